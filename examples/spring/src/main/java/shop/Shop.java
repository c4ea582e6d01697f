package shop;

import io.redlatch.LockMetrics;
import java.net.URI;
import org.redisson.api.RedissonClient;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** A shop with an HTTP endpoint, of which several may run on one Redis. */
@SpringBootApplication
public class Shop {
    public static void main(String[] arguments) {
        System.out.println("the shop is open at " + url(SpringApplication.run(Shop.class, arguments)));
    }

    static URI url(ConfigurableApplicationContext shop) {
        return URI.create("http://localhost:" + shop.getEnvironment().getProperty("local.server.port"));
    }

    /** The figures of the locks in `/actuator/prometheus`. */
    @Bean
    LockMetrics lockMetrics(RedissonClient client) {
        return new LockMetrics(client);
    }
}

package io.redlatch.spring;

import java.util.concurrent.CountDownLatch;
import org.redisson.api.RedissonClient;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** A program that has no more of Spring than its core: it prints whether its scheduled method runs under its lock. */
@SpringBootConfiguration
@EnableAutoConfiguration
@EnableScheduling
class Bare {
    private static final CountDownLatch RAN = new CountDownLatch(1);

    /** A timer calls it. */
    static class Timed {
        private final RedissonClient client;

        Timed(RedissonClient client) {
            this.client = client;
        }

        @Scheduled(fixedDelay = 1)
        @DistributedLock(name = "bare", waitTime = "0s", onBusy = OnBusy.SKIP)
        public void run() {
            System.out.println("locked: " + client.getLock("bare").isLocked());
            RAN.countDown();
        }
    }

    @Bean
    Timed timed(RedissonClient client) {
        return new Timed(client);
    }

    public static void main(String[] arguments) throws Exception {
        ConfigurableApplicationContext application = SpringApplication.run(Bare.class, arguments);
        RAN.await();
        application.close();
    }
}

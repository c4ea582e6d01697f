package shop;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Sells ten lamps to twenty customers who come at once, over HTTP. {@code -Dstay=true -Dport=8080} goes on after that. */
@SpringBootApplication
public class Shop {
    public static void main(String[] arguments) throws Exception {
        ConfigurableApplicationContext shop = SpringApplication.run(Shop.class, arguments);
        String url = "http://localhost:" + shop.getEnvironment().getProperty("local.server.port");
        shop.getBean(Stock.class).fill("lamp", 10);

        HttpClient customers = HttpClient.newHttpClient();
        HttpRequest buy = HttpRequest.newBuilder(URI.create(url + "/buy/lamp")).POST(HttpRequest.BodyPublishers.noBody()).build();
        Map<String, Long> answers = Stream.generate(() -> customers.sendAsync(buy, BodyHandlers.ofString())).limit(20).toList().stream()
                .map(answer -> answer.join().body()).collect(Collectors.groupingBy(answer -> answer, Collectors.counting()));
        System.out.println("sold " + answers.get("sold") + ", and told " + answers.get("sold out") + " customers that there are no more");

        HttpRequest health = HttpRequest.newBuilder(URI.create(url + "/actuator/health")).build();
        System.out.println("the health is " + customers.send(health, BodyHandlers.ofString()).body());
        if (!Boolean.getBoolean("stay")) {
            shop.close();
        }
        if (!answers.equals(Map.of("sold", 10L, "sold out", 10L))) {
            throw new IllegalStateException("ten lamps were there, and the answers are " + answers);
        }
    }
}

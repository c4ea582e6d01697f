package shop;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Opens a shop with ten lamps for twenty customers who come at once, and closes it again. */
public class Customers {
    public static void main(String[] arguments) throws Exception {
        ConfigurableApplicationContext shop = SpringApplication.run(Shop.class, arguments);
        URI url = Shop.url(shop);
        HttpClient customers = HttpClient.newHttpClient();
        HttpRequest fill = HttpRequest.newBuilder(url.resolve("/stock/lamp")).PUT(BodyPublishers.ofString("10")).header("Content-Type", "text/plain").build();
        customers.send(fill, BodyHandlers.discarding());

        HttpRequest buy = HttpRequest.newBuilder(url.resolve("/buy/lamp")).POST(BodyPublishers.noBody()).build();
        Map<String, Long> answers = Stream.generate(() -> customers.sendAsync(buy, BodyHandlers.ofString())).limit(20).toList().stream()
                .map(answer -> answer.join().body()).collect(Collectors.groupingBy(answer -> answer, Collectors.counting()));
        System.out.println("sold " + answers.get("sold") + ", and told " + answers.get("sold out") + " customers that there are no more");

        HttpRequest health = HttpRequest.newBuilder(url.resolve("/actuator/health")).build();
        System.out.println("the health is " + customers.send(health, BodyHandlers.ofString()).body());
        shop.close();
        if (!answers.equals(Map.of("sold", 10L, "sold out", 10L))) {
            throw new IllegalStateException("ten lamps were there, and the answers are " + answers);
        }
    }
}

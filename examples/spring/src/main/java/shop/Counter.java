package shop;

import java.io.IOException;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Where customers buy: {@code curl -X POST localhost:8080/buy/lamp}. */
@RestController
class Counter {
    private final Stock stock;

    Counter(Stock stock) {
        this.stock = stock;
    }

    @PostMapping("/buy/{item}")
    String buy(@PathVariable String item) throws IOException {
        return stock.take(item) ? "sold" : "sold out";
    }
}

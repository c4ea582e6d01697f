package shop;

import io.redlatch.LockLostException;
import io.redlatch.spring.LockBusyException;
import java.io.IOException;
import org.redisson.client.RedisException;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Where customers buy and pay: {@code curl -X POST localhost:8080/buy/lamp}. */
@RestController
class Counter {
    private final Stock stock;
    private final Payments payments;

    Counter(Stock stock, Payments payments) {
        this.stock = stock;
        this.payments = payments;
    }

    @PutMapping("/stock/{item}")
    void fill(@PathVariable String item, @RequestBody String number) throws IOException {
        stock.fill(item, Integer.parseInt(number));
    }

    @PostMapping("/buy/{item}")
    String buy(@PathVariable String item) throws IOException {
        return stock.take(item) ? "sold" : "sold out";
    }

    /** May be called again where the answer got lost. */
    @PostMapping("/orders/{order}/pay")
    String pay(@PathVariable String order) throws IOException {
        return payments.charge(order) ? "charged" : "charged before";
    }

    /** No lock within the time, no Redis, or a lock that was lost on the way: the call may or may not have done its work. */
    @ExceptionHandler({LockBusyException.class, LockLostException.class, RedisException.class})
    @ResponseStatus(HttpStatus.SERVICE_UNAVAILABLE)
    String unavailable(Exception reason) {
        return reason.toString();
    }
}

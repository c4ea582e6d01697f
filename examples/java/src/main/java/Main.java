import io.redlatch.Leader;
import io.redlatch.Term;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Two workers, and an order that only one of them may charge at a time. */
public final class Main {
    private Main() {}

    /** Uses the server that REDLATCH_URL names, else redis://127.0.0.1:6379. */
    public static void main(String[] arguments) throws InterruptedException {
        RedissonClient client = connect(System.getenv("REDLATCH_URL"));
        try {
            Thread other = new Thread(() -> charge(client.getLock("orders:42"), "the second worker"));
            other.start();
            charge(client.getLock("orders:42"), "the first worker");
            other.join();
            chargeUnlessBusy(client.getLock("orders:42"));
            lead(Leader.of(client, "billing", "api-3:80"));
            book(client.getMultiLock("show", Arrays.asList("A1", "A2")));
        } finally {
            client.shutdown();
        }
    }

    private static RedissonClient connect(String url) {
        if (url == null) {
            return Redisson.create();
        }
        Config config = new Config();
        config.useSingleServer().setAddress(url);
        return Redisson.create(config);
    }

    private static void charge(RLock lock, String worker) {
        lock.lock();
        try {
            System.out.println(worker + " charges under " + lock.getName());
        } finally {
            lock.unlock();
        }
    }

    /** Leads until the end of the block. Each term has a token greater than all before it; the other processes see the value. */
    private static void lead(Leader billing) throws InterruptedException {
        try (Term term = billing.lead()) {
            term.onLost(loss -> System.out.println("another process may lead now: " + loss.getMessage()));
            System.out.println(billing.current().get().value() + " leads " + billing.getName());
            term.ensure();
        }
    }

    /** Under one lock of several values, taken in one call: a booking of a common seat waits, a booking of other seats does not. */
    private static void book(RLock seats) {
        seats.lock();
        try {
            System.out.println("two seats of the " + seats.getName() + " are booked");
        } finally {
            seats.unlock();
        }
    }

    private static void chargeUnlessBusy(RLock lock) throws InterruptedException {
        if (lock.tryLock(2, 10, TimeUnit.SECONDS)) {
            try {
                System.out.println("free within two seconds, and ours for ten: " + lock.remainTimeToLive() + " ms left");
            } finally {
                lock.unlock();
            }
        } else {
            System.out.println("another worker is charging it");
        }
    }
}

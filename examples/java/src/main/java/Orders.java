import io.redlatch.Holds;
import io.redlatch.Redlatch;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * Charges each order once, although a retry and a second machine try it as well: the note that it is done is written under the
 * lock.
 */
public final class Orders {
    /** A table of the database: a lock does not remember what was done. */
    private final Map<Integer, String> charged = new ConcurrentHashMap<>();
    private final RedissonClient client;

    private Orders(RedissonClient client) {
        this.client = client;
    }

    private void charge(int order, String machine) throws InterruptedException {
        RLock lock = client.getLock("example:order:" + order);
        if (!lock.tryLock(5, TimeUnit.SECONDS)) {
            throw new IllegalStateException("order " + order + " is locked; try it later");
        }
        try {
            if (charged.containsKey(order)) {
                return;   // another machine was first
            }
            Holds.of(lock).ensure();   // LockLostException if the lock was lost meanwhile: better not charged than charged twice
            if (charged.put(order, machine) != null) {
                throw new IllegalStateException("order " + order + " was charged twice");
            }
        } finally {
            lock.unlock();
        }
    }

    private void chargeAll(String machine) {
        try {
            for (int order = 0; order < 10; order++) {
                charge(order, machine);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        RedissonClient client = Redlatch.connect(System.getenv().getOrDefault("REDLATCH_URL", "redis://localhost:6379"));
        try {
            Orders orders = new Orders(client);
            Thread[] machines = Stream.of("machine 1", "machine 2", "the retry of machine 1")
                    .map(machine -> new Thread(() -> orders.chargeAll(machine)))
                    .toArray(Thread[]::new);
            for (Thread machine : machines) {
                machine.start();
            }
            for (Thread machine : machines) {
                machine.join();
            }
            System.out.println(orders.charged.size() + " orders are charged, each of them once");
            if (orders.charged.size() != 10) {
                throw new IllegalStateException("each order is charged");
            }
        } finally {
            client.shutdown();
        }
    }
}

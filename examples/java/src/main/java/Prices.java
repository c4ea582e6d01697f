import io.redlatch.Redlatch;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;

/** A cache that many read side by side and one fills at a time. */
public final class Prices {
    private final Map<String, Integer> cache = new ConcurrentHashMap<>();
    private final AtomicInteger writes = new AtomicInteger();
    private final RedissonClient client;

    private Prices(RedissonClient client) {
        this.client = client;
    }

    private int of(String article) {
        RReadWriteLock lock = client.getReadWriteLock("example:price:" + article);
        lock.readLock().lock();
        try {
            Integer known = cache.get(article);
            if (known != null) {
                return known;
            }
        } finally {
            // A reader does not wait for the write lock, since other readers may do so as well: it lets go first.
            lock.readLock().unlock();
        }
        lock.writeLock().lock();
        try {
            Integer known = cache.get(article);   // another writer may have been here in between
            if (known == null) {
                writes.incrementAndGet();
                known = article.length() * 100;
                cache.put(article, known);
            }
            return known;
        } finally {
            lock.writeLock().unlock();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        RedissonClient client = Redlatch.connect(System.getenv().getOrDefault("REDLATCH_URL", "redis://localhost:6379"));
        try {
            Prices prices = new Prices(client);
            Thread[] readers = IntStream.range(0, 20)
                    .mapToObj(number -> new Thread(() -> prices.of(number % 2 == 0 ? "tea" : "coffee")))
                    .toArray(Thread[]::new);
            for (Thread reader : readers) {
                reader.start();
            }
            for (Thread reader : readers) {
                reader.join();
            }
            System.out.println("20 readers, " + prices.writes + " writes: " + prices.cache);
            if (prices.writes.get() != 2) {
                throw new IllegalStateException("each price is written once");
            }
        } finally {
            client.shutdown();
        }
    }
}

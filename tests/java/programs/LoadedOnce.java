import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Many ask for a value that is missing, and one loads it: the others look again when they have the lock. */
final class LoadedOnce implements SmallProgram {
    private final AtomicInteger loads = new AtomicInteger();

    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RedissonClient other = Clients.create(redisson.getConfig());
        List<CompletableFuture<String>> readers = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            RedissonClient client = i % 2 == 0 ? redisson : other;
            readers.add(show.started(() -> value(client, show)));
        }
        boolean same = true;
        for (CompletableFuture<String> each : readers) {
            same &= show.get(each).equals("loaded");
        }
        show.line("read", same, loads, redisson.getLock("price:lock").isLocked());
        other.shutdown();
    }

    private String value(RedissonClient client, Show show) throws Exception {
        Object cached = show.redis("GET", "price");
        if (cached != null) {
            return String.valueOf(cached);
        }
        RLock lock = client.getLock("price:lock");
        if (!lock.tryLock(40, 10, TimeUnit.SECONDS)) {
            return "busy";
        }
        try {
            cached = show.redis("GET", "price");
            if (cached == null) {
                loads.incrementAndGet();
                show.redis("SET", "price", "loaded");
                cached = "loaded";
            }
            return String.valueOf(cached);
        } finally {
            if (lock.isHeldByCurrentThread()) {
                lock.unlock();
            }
        }
    }
}

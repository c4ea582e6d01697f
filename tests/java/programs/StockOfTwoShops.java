import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Two processes sell from one stock, with each kind of lock that excludes. */
final class StockOfTwoShops implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RedissonClient other = Clients.create(redisson.getConfig());
        for (String kind : new String[] {"reentrant", "fair", "spin", "fenced", "write", "once"}) {
            String key = "stock:" + kind;
            show.redis("SET", key, "100");
            List<CompletableFuture<Boolean>> sales = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                RLock lock = lock(i % 2 == 0 ? redisson : other, kind);
                sales.add(show.started(() -> {
                    lock.lock();
                    try {
                        int left = Integer.parseInt(String.valueOf(show.redis("GET", key)));
                        show.redis("SET", key, String.valueOf(left - 3));
                        return true;
                    } finally {
                        lock.unlock();
                    }
                }));
            }
            for (CompletableFuture<Boolean> each : sales) {
                show.get(each);
            }
            show.line(kind, show.redis("GET", key), lock(redisson, kind).isLocked());
        }
        other.shutdown();
    }

    private static RLock lock(RedissonClient client, String kind) {
        String name = "stock-lock:" + kind;
        switch (kind) {
            case "fair":
                return client.getFairLock(name);
            case "spin":
                return client.getSpinLock(name);
            case "fenced":
                return client.getFencedLock(name);
            case "write":
                return client.getReadWriteLock(name).writeLock();
            case "once":
                return client.getNonReentrantLock(name);
            default:
                return client.getLock(name);
        }
    }
}

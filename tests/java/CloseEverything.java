import io.redlatch.Hold;
import io.redlatch.Holds;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The main class of a child JVM that shuts its clients down, keeps its locks, and counts the descriptors that are open on Linux. */
public final class CloseEverything {
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);

    private CloseEverything() {}

    /** @param arguments an address */
    public static void main(String... arguments) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]);
        List<RLock> kept = new ArrayList<>();
        RedissonClient first = Redisson.create(config);
        first.getLock("close").isLockedAsync().get();
        first.shutdown();
        // The thread closes its descriptors, and then ends.
        for (long end = System.nanoTime() + PATIENCE_NANOS; Vitals.nativeThreads("redlatch-io") > 0 && System.nanoTime() < end;) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
        long before = Vitals.openSockets(); // with what the library opens once
        for (int i = 0; i < 3; i++) {
            RedissonClient client = Redisson.create(config);
            RLock both = client.getMultiLock(client.getLock("close-" + i), client.getLock("close-too-" + i));
            both.lockAsync(1).get();
            both.unlockAsync(1).get();
            both.lock();
            Hold hold = Holds.of(both);
            client.shutdown();
            System.out.print(hold.lost().get(20, TimeUnit.SECONDS).reason() + ", ");
            kept.add(both);
        }
        for (long end = System.nanoTime() + PATIENCE_NANOS; Vitals.openSockets() > before && System.nanoTime() < end;) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
        System.out.print(kept.size() + " locks kept, " + (Vitals.openSockets() - before) + " more open");
        try {
            kept.get(0).unlock();
        } catch (RuntimeException e) {
            System.out.println(", " + e.getClass().getSimpleName());
        }
    }
}

import io.redlatch.Hold;
import io.redlatch.Holds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
        long before = open(); // with what the library opens once
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
        for (long end = System.nanoTime() + PATIENCE_NANOS; open() > before && System.nanoTime() < end;) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
        System.out.print(kept.size() + " locks kept, " + (open() - before) + " more open");
        try {
            kept.get(0).unlock();
        } catch (RuntimeException e) {
            System.out.println(", " + e.getClass().getSimpleName());
        }
    }

    /** Sockets, and what threads of the native library sleep on. */
    private static long open() throws IOException {
        List<Path> all;
        try (Stream<Path> descriptors = Files.list(Paths.get("/proc/self/fd"))) {
            all = descriptors.collect(Collectors.toList());
        }
        long count = 0;
        for (Path each : all) {
            try {
                String target = Files.readSymbolicLink(each).toString();
                count += target.startsWith("socket:") || target.startsWith("anon_inode:") ? 1 : 0;
            } catch (IOException e) {
                // It was closed meanwhile.
            }
        }
        return count;
    }
}

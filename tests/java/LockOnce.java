import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Paths;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.config.Config;

/** The main class of child JVMs: connects, locks, says so, and ends without a shutdown. */
public final class LockOnce {
    private LockOnce() {}

    /** @param arguments an address, how many times to try, and a file that the JVM is to have in its memory, if any */
    public static void main(String... arguments) throws IOException {
        if (arguments.length > 2) {
            try (FileChannel file = FileChannel.open(Paths.get(arguments[2]))) {
                file.map(FileChannel.MapMode.READ_ONLY, 0, file.size()); // stays mapped after the end of this block
            }
        }
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]);
        for (int left = Integer.parseInt(arguments[1]); left > 0; left--) {
            try {
                RLock lock = Redisson.create(config).getLock("LockOnce-" + ProcessHandle.current().pid());
                lock.lock();
                lock.unlock();
                lock.lockAsync(1).thenCompose(nothing -> lock.unlockAsync(1)).toCompletableFuture().join();
                System.out.println("locked");
            } catch (Throwable e) {
                System.out.println(e);
            }
        }
    }
}

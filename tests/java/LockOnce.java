import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.config.Config;

/** The main class of child JVMs: connects, locks, says so, and ends without a shutdown. */
public final class LockOnce {
    private LockOnce() {}

    /** @param arguments an address, and how many times to try */
    public static void main(String[] arguments) {
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

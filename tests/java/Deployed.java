import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** An application in a class loader of its own. */
public final class Deployed {
    /** It stays here: an application need not let go of its locks before it is taken out. */
    private static RLock together;

    private Deployed() {}

    /** Starts, locks, and ends as it should. */
    public static String run(String url) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(url);
        RedissonClient client = Redisson.create(config);
        RLock lock = client.getLock("deployed-" + System.identityHashCode(client));
        lock.lock();
        lock.unlock();
        lock.lockAsync(1).thenCompose(nothing -> lock.unlockAsync(1)).toCompletableFuture().get();
        together = client.getMultiLock(client.getLock("one"), client.getLock("two"));
        together.lock();
        together.unlock();
        client.shutdown();
        try {
            lock.lockAsync(1).toCompletableFuture().get();
        } catch (java.util.concurrent.ExecutionException e) {
            return "locked";
        }
        return "locked after its end";
    }
}

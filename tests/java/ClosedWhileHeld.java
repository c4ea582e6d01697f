import io.redlatch.Hold;
import io.redlatch.Holds;
import java.util.concurrent.CompletableFuture;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** An application in a class loader of its own that ends while it holds a lock. */
public final class ClosedWhileHeld {
    private ClosedWhileHeld() {}

    /**
     * Locks, and shuts its client down when it is told to.
     *
     * @param end completes when that is to be
     * @return completes with the reason of the loss, as a text
     */
    public static CompletableFuture<String> run(String url, CompletableFuture<Void> end) {
        Config config = new Config();
        config.useSingleServer().setAddress(url);
        Redisson.create(config).shutdown(); // so that the classes for a shutdown are there; those for the news of a loss are another matter
        RedissonClient client = Redisson.create(config);
        RLock lock = client.getLock("closed-while-held-" + client.getId());
        lock.lock();
        Hold hold = Holds.of(lock);
        CompletableFuture<String> reason = hold.lost().thenApply(loss -> loss.reason().toString());
        end.thenRun(client::shutdown);
        return reason;
    }
}

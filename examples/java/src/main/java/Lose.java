import io.redlatch.Holds;
import io.redlatch.LockLostException;
import io.redlatch.Redlatch;
import java.util.concurrent.CompletableFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

public final class Lose {
    public static void main(String[] arguments) {
        String url = System.getenv().getOrDefault("REDLATCH_URL", "redis://localhost:6379");
        RedissonClient ours = Redlatch.connect(url);
        RedissonClient operator = Redlatch.connect(url);
        RLock lock = ours.getLock("start:42");
        lock.lock();
        CompletableFuture<LockLostException> lost = new CompletableFuture<>();
        Holds.of(lock).onLost(lost::complete);
        operator.getLock("start:42").forceUnlock();
        System.out.println("stop the work: " + lost.join().reason());   // deleted
        ours.shutdown();
        operator.shutdown();
    }
}

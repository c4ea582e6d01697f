import io.redlatch.Holds;
import io.redlatch.Redlatch;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

public final class Start {
    public static void main(String[] arguments) {
        String url = System.getenv().getOrDefault("REDLATCH_URL", "redis://localhost:6379");
        RedissonClient ours = Redlatch.connect(url);
        RedissonClient theirs = Redlatch.connect(url);
        RLock lock = ours.getLock("start:42");
        lock.lock();
        try {
            System.out.println("they get: " + theirs.getLock("start:42").tryLock());   // false
            Holds.of(lock).ensure();   // LockLostException if the lock was lost meanwhile
        } finally {
            lock.unlock();
        }
        ours.shutdown();
        theirs.shutdown();
    }
}

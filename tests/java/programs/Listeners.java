import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.redisson.api.DeletedObjectListener;
import org.redisson.api.ExpiredObjectListener;
import org.redisson.api.RLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** To be told when a key ends or is deleted. */
final class Listeners implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        show.redis("CONFIG", "SET", "notify-keyspace-events", "Egx");
        CompletableFuture<String> deleted = new CompletableFuture<>();
        CompletableFuture<String> expired = new CompletableFuture<>();
        RLock lock = redisson.getLock("watched");
        int number = lock.addListener((DeletedObjectListener) deleted::complete);
        lock.lock();
        lock.unlock();
        show.line("deleted", show.get(deleted));
        lock.removeListener(number);
        RSemaphore semaphore = redisson.getSemaphore("watched-semaphore");
        semaphore.addListener((ExpiredObjectListener) expired::complete);
        semaphore.trySetPermits(1, Duration.ofMillis(50));
        show.line("expired", show.get(expired));
    }
}

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A client that ends while a thread waits. */
final class ShuttingDown implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock lock = redisson.getLock("ending");
        lock.lock();
        RedissonClient other = Clients.create(redisson.getConfig());
        RLock waiting = other.getLock("ending");
        show.line("open", other.isShutdown(), other.isShuttingDown(), other.getId().length());
        CompletableFuture<Boolean> held = show.started(() -> other.getLock("left").tryLock(1, 60, TimeUnit.SECONDS));
        show.line("held", show.get(held));
        other.shutdown(0, 2, TimeUnit.SECONDS);
        show.line("ended", other.isShutdown(), other.isShuttingDown(), redisson.isShutdown());
        show.of("afterwards", () -> waiting.tryLock(1, TimeUnit.SECONDS));
        show.line("left as it was", redisson.getLock("left").isLocked());
        lock.unlock();
    }
}

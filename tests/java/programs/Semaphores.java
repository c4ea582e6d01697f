import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** At most so many at once. */
final class Semaphores implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RSemaphore semaphore = redisson.getSemaphore("seats");
        show.line("set", semaphore.trySetPermits(3), semaphore.trySetPermits(5), semaphore.availablePermits());
        semaphore.acquire();
        semaphore.acquire(2);
        show.line("none left", semaphore.tryAcquire(), semaphore.tryAcquire(1, Duration.ofMillis(100)), semaphore.availablePermits());
        CompletableFuture<Boolean> waiter = show.started(() -> semaphore.tryAcquire(2, Duration.ofSeconds(15)));
        semaphore.release();
        semaphore.release(1);
        show.line("in time", show.get(waiter), semaphore.availablePermits());
        semaphore.addPermits(4);
        show.line("more", semaphore.availablePermits(), semaphore.drainPermits(), semaphore.drainPermits());
        semaphore.addPermits(-2);
        show.line("fewer", semaphore.availablePermits(), semaphore.tryAcquire());
        show.line("if it exists", semaphore.releaseIfExists(3), redisson.getSemaphore("no-seats").releaseIfExists(1),
                semaphore.availablePermits());
        show.line("deleted", semaphore.delete(), semaphore.isExists(), semaphore.availablePermits());
        show.of("negative", () -> semaphore.tryAcquire(-1));
    }
}

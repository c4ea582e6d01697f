import java.util.concurrent.TimeUnit;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Locks without a thread that waits; a number stands for the thread. */
final class AsyncLocks implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock lock = redisson.getLock("async");
        show.line("locked", show.get(lock.lockAsync(1)), show.get(lock.tryLockAsync(1)), show.get(lock.getHoldCountAsync()));
        show.line("another", show.get(lock.tryLockAsync(2)), show.get(lock.isHeldByThreadAsync(1)), show.get(lock.isHeldByThreadAsync(2)));
        RFuture<Boolean> waiter = lock.tryLockAsync(20, 10, TimeUnit.SECONDS, 2);
        show.line("one left", show.get(lock.unlockAsync(1)), waiter.isDone());
        show.line("none left", show.get(lock.unlockAsync(1)), show.get(waiter));
        show.of("chained", () -> show.get(lock.unlockAsync(2).thenCompose(nothing -> lock.lockAsync(5, TimeUnit.SECONDS, 3))
                .thenCompose(nothing -> lock.remainTimeToLiveAsync()).thenApply(ms -> ms > 1000 && ms <= 5000)));
        show.of("not held", () -> show.get(lock.unlockAsync(2)));
        show.line("forced", show.get(lock.forceUnlockAsync()), show.get(lock.isLockedAsync()));
    }
}

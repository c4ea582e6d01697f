import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.redisson.api.LockOptions;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Locks that ask again and again, and publish nothing. */
final class SpinLocks implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock lock = redisson.getSpinLock("spin");
        lock.lock();
        show.line("held", lock.isLocked(), lock.getHoldCount(), show.elsewhere(() -> lock.tryLock(100, TimeUnit.MILLISECONDS)));
        RLock patient = redisson.getSpinLock("spin", new LockOptions.ConstantBackOff().delay(10));
        CompletableFuture<Boolean> waiter = show.started(() -> patient.tryLock(15, 10, TimeUnit.SECONDS));
        lock.unlock();
        show.line("in time", show.get(waiter), lock.isLocked());
        show.line("forced", lock.forceUnlock());
        LockOptions.ExponentialBackOff backOff = new LockOptions.ExponentialBackOff().initialDelay(2).maxDelay(8).multiplier(2);
        show.line("delays", backOff.getInitialDelay(), backOff.getMaxDelay(), backOff.getMultiplier());
        show.of("too small", () -> new LockOptions.ExponentialBackOff().maxDelay(0));
        show.of("too small", () -> new LockOptions.ExponentialBackOff().initialDelay(-1));
    }
}

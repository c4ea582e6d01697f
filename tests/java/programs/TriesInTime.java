import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Waits that may be in vain. */
final class TriesInTime implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock lock = redisson.getLock("stock");
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        CompletableFuture<String> holder = show.started(() -> {
            lock.lock();
            held.countDown();
            end.await();
            lock.unlock();
            return "released";
        });
        held.await();
        show.line("at once", lock.tryLock());
        show.line("in vain", lock.tryLock(200, TimeUnit.MILLISECONDS), lock.tryLock(200, 1000, TimeUnit.MILLISECONDS), lock.tryLock(0,
                TimeUnit.SECONDS));
        show.line("negative", lock.tryLock(-1, TimeUnit.SECONDS));
        CompletableFuture<Boolean> waiter = show.started(() -> lock.tryLock(15, 10, TimeUnit.SECONDS));
        end.countDown();
        show.line("in time", show.get(holder), show.get(waiter), lock.isLocked());
        lock.forceUnlock();
    }
}

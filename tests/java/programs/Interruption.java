import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Threads that are asked to stop. */
final class Interruption implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock lock = redisson.getLock("interrupted");
        lock.lock();
        for (String method : new String[] {"lockInterruptibly", "tryLock"}) {
            Thread[] thread = new Thread[1];
            CountDownLatch started = new CountDownLatch(1);
            CompletableFuture<Boolean> waiter = show.started(() -> {
                thread[0] = Thread.currentThread();
                started.countDown();
                if (method.equals("tryLock")) {
                    return lock.tryLock(20, TimeUnit.SECONDS);
                }
                lock.lockInterruptibly();
                return true;
            });
            started.await();
            show.untilAnyWaits("redisson_lock__channel:{interrupted}");
            thread[0].interrupt();
            show.line(method, show.isInterruption(waiter));
        }
        lock.unlock();
        show.line("afterwards", lock.isLocked(), show.elsewhere(lock::tryLock));
        lock.forceUnlock();
    }
}

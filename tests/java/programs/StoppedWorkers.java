import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A pool that is shut down while its workers wait for a lock. */
final class StoppedWorkers implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock lock = redisson.getLock("workers");
        lock.lock();
        ExecutorService pool = Executors.newFixedThreadPool(1);
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Boolean> worker = new CompletableFuture<>();
        CompletableFuture<Boolean> cleanUp = new CompletableFuture<>();
        pool.execute(() -> {
            begun.countDown();
            boolean isHeld = false;
            try {
                isHeld = lock.tryLock(20, 10, TimeUnit.SECONDS);
                worker.complete(isHeld);
            } catch (Exception e) {
                worker.completeExceptionally(e);
                Thread.currentThread().interrupt();
            } finally {
                cleanUp.complete(isHeld);
                if (isHeld) {
                    lock.unlock();
                }
            }
        });
        begun.await();
        show.untilAnyWaits("redisson_lock__channel:{workers}");
        pool.shutdownNow();
        show.line("worker", show.isInterruption(worker), !show.get(cleanUp));
        show.line("pool", pool.awaitTermination(20, TimeUnit.SECONDS), lock.isHeldByCurrentThread());
        lock.unlock();
        show.line("free", lock.isLocked());
    }
}

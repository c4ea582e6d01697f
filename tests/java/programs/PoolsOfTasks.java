import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Tasks of a pool; a lock belongs to the pool's thread, and not to the thread that submits. */
final class PoolsOfTasks implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock lock = redisson.getLock("pooled");
        ExecutorService pool = Executors.newFixedThreadPool(3);
        List<Callable<Integer>> tasks = new ArrayList<>();
        int[] count = new int[1];
        for (int i = 0; i < 9; i++) {
            tasks.add(() -> {
                lock.lock(20, TimeUnit.SECONDS);
                try {
                    return ++count[0];
                } finally {
                    lock.unlock();
                }
            });
        }
        int sum = 0;
        for (Future<Integer> each : pool.invokeAll(tasks)) {
            sum += each.get();
        }
        show.line("sum", sum, count[0], lock.isLocked());
        lock.lock();
        show.of("the wrong thread", () -> pool.submit(() -> {
            lock.unlock();
            return "done";
        }).get());
        show.of("the wrong stage", () -> show.get(CompletableFuture.runAsync(lock::unlock, pool)));
        show.line("the right thread", lock.isHeldByCurrentThread());
        lock.unlock();
        show.of("task by task", () -> show.get(CompletableFuture.supplyAsync(() -> lock.tryLock(), pool).thenApply(isHeld -> isHeld && lock.isLocked())));
        lock.forceUnlock();
        pool.shutdown();
        show.line("ended", pool.awaitTermination(20, TimeUnit.SECONDS));
    }
}

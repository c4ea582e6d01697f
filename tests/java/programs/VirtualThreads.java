import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A task is a virtual thread, where the JDK has them. */
final class VirtualThreads implements SmallProgram {
    private int sold;

    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock lock = redisson.getLock("tickets");
        ExecutorService tasks = threads();
        List<Future<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            all.add(tasks.submit((Callable<Boolean>) () -> {
                lock.lock();
                try {
                    sold++;
                    return lock.isHeldByCurrentThread() && lock.getHoldCount() == 1;
                } finally {
                    lock.unlock();
                }
            }));
        }
        boolean wereHolders = true;
        for (Future<Boolean> each : all) {
            wereHolders &= each.get(50, TimeUnit.SECONDS);
        }
        show.line("sold", sold, wereHolders, lock.isLocked());
        lock.lock();
        show.line("busy", tasks.submit(() -> lock.tryLock(100, TimeUnit.MILLISECONDS)).get(), tasks.submit(lock::isHeldByCurrentThread).get());
        lock.unlock();
        tasks.shutdown();
        show.line("ended", tasks.awaitTermination(20, TimeUnit.SECONDS));
    }

    private static ExecutorService threads() throws Exception {
        try {
            return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (NoSuchMethodException e) { // before Java 21
            return Executors.newCachedThreadPool();
        }
    }
}

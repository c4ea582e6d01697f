import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A timer on two nodes, of which one does the work: the lease keeps the other out until the period is over. */
final class ScheduledOnce implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RedissonClient other = Clients.create(redisson.getConfig());
        AtomicInteger runs = new AtomicInteger();
        AtomicInteger skips = new AtomicInteger();
        CountDownLatch ticks = new CountDownLatch(10);
        ScheduledExecutorService timers = Executors.newScheduledThreadPool(2);
        for (RedissonClient node : List.of(redisson, other)) {
            timers.scheduleAtFixedRate(() -> {
                RLock lock = node.getLock("report");
                try {
                    // The lease is not given back: it is the period.
                    (lock.tryLock(0, 60, TimeUnit.SECONDS) && lock.getHoldCount() == 1 ? runs : skips).incrementAndGet();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                ticks.countDown();
            }, 0, 30, TimeUnit.MILLISECONDS);
        }
        boolean have = ticks.await(20, TimeUnit.SECONDS);
        timers.shutdown();
        timers.awaitTermination(20, TimeUnit.SECONDS);
        show.line("ran", have, runs, skips.get() >= 9, redisson.getLock("report").isLocked());
        show.line("the period is over", redisson.getLock("report").forceUnlock());
        other.shutdown();
    }
}

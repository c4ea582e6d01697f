import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RedissonClient;

/** All start together, and one waits for all ends. */
final class StartGate implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RedissonClient other = Clients.create(redisson.getConfig());
        RCountDownLatch start = redisson.getCountDownLatch("start");
        RCountDownLatch end = redisson.getCountDownLatch("end");
        show.line("set", start.trySetCount(1), end.trySetCount(6), start.trySetCount(1));
        AtomicInteger running = new AtomicInteger();
        List<CompletableFuture<Boolean>> runners = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            RedissonClient client = i % 2 == 0 ? redisson : other;
            runners.add(show.started(() -> {
                boolean isOpen = client.getCountDownLatch("start").await(40, TimeUnit.SECONDS);
                running.incrementAndGet();
                client.getCountDownLatch("end").countDown();
                return isOpen;
            }));
        }
        show.line("before", running, end.getCount(), end.await(50, TimeUnit.MILLISECONDS));
        start.countDown();
        end.await();
        for (CompletableFuture<Boolean> each : runners) {
            show.get(each);
        }
        show.line("after", running, start.getCount(), end.getCount(), end.isExists());
        show.line("once more", start.trySetCount(2), start.getCount(), start.delete(), start.await(1, TimeUnit.MILLISECONDS));
        other.shutdown();
    }
}

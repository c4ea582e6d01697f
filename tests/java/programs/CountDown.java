import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RedissonClient;

/** To wait until something has happened so many times. */
final class CountDown implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RCountDownLatch latch = redisson.getCountDownLatch("workers");
        show.line("open", latch.getCount(), latch.await(1, TimeUnit.MILLISECONDS));
        show.line("set", latch.trySetCount(2), latch.trySetCount(3), latch.getCount());
        show.line("in vain", latch.await(100, TimeUnit.MILLISECONDS));
        CompletableFuture<String> waiter = show.started(() -> {
            latch.await();
            return "went";
        });
        latch.countDown();
        show.line("one left", latch.getCount());
        show.get(latch.countDownAsync());
        show.line("none left", show.get(waiter), latch.getCount(), latch.isExists());
        latch.countDown();
        show.line("below", latch.getCount(), latch.delete());
    }
}

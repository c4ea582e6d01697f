import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** The process that has the lock leads; the next one takes over when it steps down, or when its lease is over. */
final class LeaderByLock implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RedissonClient second = Clients.create(redisson.getConfig());
        RedissonClient third = Clients.create(redisson.getConfig());
        CountDownLatch stepDown = new CountDownLatch(1);
        CountDownLatch leads = new CountDownLatch(1);
        CompletableFuture<String> first = show.started(() -> {
            RLock lock = redisson.getLock("leader");
            lock.lock();
            leads.countDown();
            stepDown.await();
            lock.unlock();
            return "stepped down";
        });
        leads.await();
        show.line("candidates", second.getLock("leader").tryLock(), third.getLock("leader").tryLock(100, TimeUnit.MILLISECONDS));
        CompletableFuture<Boolean> next = show.started(() -> second.getLock("leader").tryLock(15, 1, TimeUnit.SECONDS));
        show.untilAnyWaits("redisson_lock__channel:{leader}");
        stepDown.countDown();
        show.line("over", show.get(first), show.get(next));
        second.shutdown(0, 1, TimeUnit.SECONDS);
        show.line("the second one is gone", third.getLock("leader").tryLock(15, 10, TimeUnit.SECONDS), third.getLock("leader").isHeldByCurrentThread());
        third.getLock("leader").unlock();
        third.shutdown(0, 1, TimeUnit.SECONDS);
    }
}

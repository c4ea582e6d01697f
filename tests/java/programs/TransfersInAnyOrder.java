import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Transfers in both directions lock both accounts, each in its own order. */
final class TransfersInAnyOrder implements SmallProgram {
    private final int[] balances = {100, 100};

    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        CountDownLatch isHeld = new CountDownLatch(1);
        CountDownLatch other = new CountDownLatch(1);
        CompletableFuture<Boolean> there = show.started(() -> transfer(redisson, 0, 1, isHeld, other));
        isHeld.await();
        RedissonClient second = Clients.create(redisson.getConfig());
        CompletableFuture<Boolean> back = show.started(() -> transfer(second, 1, 0, new CountDownLatch(1), new CountDownLatch(0)));
        show.line("one after the other", back.isDone(), second.getLock("purse:0").isLocked(), second.getLock("purse:1").isLocked());
        other.countDown();
        show.line("both", show.get(there), show.get(back), balances[0], balances[1]);
        show.line("free", redisson.getLock("purse:0").isLocked(), redisson.getLock("purse:1").isLocked());
        second.shutdown();
    }

    private boolean transfer(RedissonClient client, int from, int to, CountDownLatch isHeld, CountDownLatch end) throws InterruptedException {
        RLock both = new RedissonMultiLock(client.getLock("purse:" + from), client.getLock("purse:" + to));
        both.lock(20, TimeUnit.SECONDS);
        try {
            isHeld.countDown();
            end.await();
            balances[from] -= 7;
            balances[to] += from == 0 ? 7 : 2;
            return client.getLock("purse:0").isHeldByCurrentThread() && client.getLock("purse:1").isHeldByCurrentThread();
        } finally {
            both.unlock();
        }
    }
}

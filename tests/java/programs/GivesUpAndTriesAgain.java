import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A task that has one lock and does not get the other gives the first one back and begins again. */
final class GivesUpAndTriesAgain implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock left = redisson.getLock("fork:left");
        RLock right = redisson.getLock("fork:right");
        CountDownLatch eats = new CountDownLatch(1);
        CountDownLatch enough = new CountDownLatch(1);
        CompletableFuture<String> philosopher = show.started(() -> {
            right.lock();
            eats.countDown();
            enough.await();
            right.unlock();
            return "has eaten";
        });
        eats.await();
        int tries = 0;
        while (!both(left, right)) {
            if (++tries == 3) {
                show.line("nothing kept", left.isLocked(), left.getHoldCount());
                enough.countDown();
            }
        }
        show.line("both", tries >= 3, show.get(philosopher), left.isHeldByCurrentThread(), right.isHeldByCurrentThread());
        right.unlock();
        left.unlock();
        show.line("free", left.isLocked(), right.isLocked());
    }

    private static boolean both(RLock left, RLock right) throws InterruptedException {
        if (!left.tryLock(10, TimeUnit.SECONDS)) {
            return false;
        }
        if (right.tryLock(20, TimeUnit.MILLISECONDS)) {
            return true;
        }
        left.unlock();
        return false;
    }
}

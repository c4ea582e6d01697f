import java.util.concurrent.TimeUnit;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;

/** Tokens that grow with every hold. */
final class FencedTokens implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RFencedLock lock = redisson.getFencedLock("fenced");
        show.line("first", lock.lockAndGetToken(), lock.getToken(), lock.isHeldByCurrentThread());
        show.line("elsewhere", show.elsewhere(() -> lock.tryLockAndGetToken(100, TimeUnit.MILLISECONDS)), show.elsewhere(lock::getToken));
        lock.unlock();
        show.line("second", lock.tryLockAndGetToken(), lock.getHoldCount());
        lock.unlock();
        show.line("third", lock.tryLockAndGetToken(1, 10, TimeUnit.SECONDS), show.get(lock.getTokenAsync()));
        lock.unlock();
        show.line("fourth", show.get(lock.lockAndGetTokenAsync()), lock.forceUnlock(), lock.getToken());
    }
}

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;

/** A store that takes no write with an older token than it has seen. */
final class StoreThatRefuses implements SmallProgram {
    private final AtomicLong newest = new AtomicLong();

    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RedissonClient other = Clients.create(redisson.getConfig());
        RFencedLock lock = redisson.getFencedLock("store");
        long slow = lock.lockAndGetToken();
        show.line("written", write(slow));
        show.line("taken away", other.getFencedLock("store").forceUnlock());
        long quick = other.getFencedLock("store").tryLockAndGetToken(10, 10, TimeUnit.SECONDS);
        show.line("greater", quick > slow, write(quick));
        show.line("late", write(slow), lock.isHeldByCurrentThread());
        show.of("late unlock", () -> {
            lock.unlock();
            return "done";
        });
        other.getFencedLock("store").unlock();
        show.line("again", lock.tryLockAndGetToken() > quick, lock.getToken() == quick + 1);
        long nested = lock.lockAndGetToken();
        show.line("nested", lock.getHoldCount(), nested > quick);
        lock.unlock();
        lock.unlock();
        other.shutdown();
    }

    private String write(long token) {
        return newest.accumulateAndGet(token, Math::max) == token ? "accepted" : "refused";
    }
}

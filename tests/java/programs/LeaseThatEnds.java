import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A lease that is shorter than the work. */
final class LeaseThatEnds implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock lock = redisson.getLock("leased");
        lock.lock(10, TimeUnit.SECONDS);
        show.line("lasts", lock.remainTimeToLive() > 5_000 && lock.remainTimeToLive() <= 10_000);
        lock.unlock();
        lock.lock(150, TimeUnit.MILLISECONDS);
        show.line("another", show.elsewhere(() -> lock.tryLock(10, 5, TimeUnit.SECONDS)));
        show.line("held", lock.isHeldByCurrentThread(), lock.isLocked());
        show.of("unlock", () -> {
            lock.unlock();
            return "done";
        });
        show.line("forced", lock.forceUnlock(), lock.forceUnlock(), lock.isLocked());
    }
}

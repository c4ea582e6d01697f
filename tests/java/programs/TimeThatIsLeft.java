import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** How long a lock still lasts, with and without renewal. */
final class TimeThatIsLeft implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock lock = redisson.getLock("left-time");
        show.line("free", lock.remainTimeToLive(), show.get(lock.remainTimeToLiveAsync()));
        lock.lock(40, TimeUnit.SECONDS);
        show.line("leased", within(lock.remainTimeToLive(), 30_000, 40_000), show.elsewhere(() -> within(lock.remainTimeToLive(), 30_000, 40_000)));
        lock.lock(60, TimeUnit.SECONDS);
        show.line("longer", within(lock.remainTimeToLive(), 50_000, 60_000), lock.getHoldCount());
        lock.unlock();
        lock.unlock();
        show.line("tried", lock.tryLock(1, 20, TimeUnit.SECONDS), within(lock.remainTimeToLive(), 10_000, 20_000));
        lock.unlock();
        lock.lock(-1, TimeUnit.SECONDS);
        show.line("-1 is renewed", within(lock.remainTimeToLive(), 20_000, 30_000));
        lock.unlock();
        RedissonClient quick = Clients.create(new Config(redisson.getConfig()).setLockWatchdogTimeout(900));
        RLock kept = quick.getLock("kept-time");
        kept.lock();
        show.line("watched", within(kept.remainTimeToLive(), 1, 900));
        Thread.sleep(1500);
        show.line("longer than its time", kept.isHeldByCurrentThread(), kept.isLocked(), within(kept.remainTimeToLive(), 1, 900));
        quick.shutdown();
        show.until(() -> !redisson.getLock("kept-time").isLocked());
        show.line("its process is gone", redisson.getLock("kept-time").tryLock(), redisson.getLock("kept-time").forceUnlock());
    }

    private static boolean within(long ms, long least, long most) {
        return ms >= least && ms <= most;
    }
}

import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** The lock that most programs use. */
final class ReentrantLock implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock lock = redisson.getLock("orders:42");
        lock.lock();
        try {
            show.line("held", lock.isLocked(), lock.isHeldByCurrentThread(), lock.getHoldCount(), lock.getName());
            lock.lock();
            show.line("again", lock.getHoldCount(), lock.tryLock(), lock.getHoldCount());
            show.line("elsewhere", show.elsewhere(lock::tryLock), show.elsewhere(lock::isHeldByCurrentThread),
                    show.elsewhere(lock::getHoldCount));
            show.line("renewed", lock.remainTimeToLive() > 15_000 && lock.remainTimeToLive() <= 30_000);
            show.line("in redis", show.redis("TYPE", "orders:42"), show.redis("HLEN", "orders:42"), show.redis("HVALS", "orders:42"));
        } finally {
            lock.unlock();
            lock.unlock();
            lock.unlock();
        }
        show.line("free", lock.isLocked(), lock.remainTimeToLive(), show.redis("EXISTS", "orders:42"));
    }
}

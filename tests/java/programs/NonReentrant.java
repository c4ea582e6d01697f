import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Locks that their holder cannot take twice. */
final class NonReentrant implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        for (RLock lock : new RLock[] {redisson.getNonReentrantLock("once"), redisson.getNonReentrantFairLock("once-fair")}) {
            lock.lock();
            show.of("twice", () -> {
                lock.lock();
                return "done";
            });
            show.of("tried", lock::tryLock);
            show.line("held", lock.isHeldByCurrentThread(), show.elsewhere(lock::tryLock));
            lock.unlock();
            show.line("free", lock.isLocked());
        }
    }
}

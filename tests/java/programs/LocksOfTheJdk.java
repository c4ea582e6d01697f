import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import org.redisson.api.RLock;
import org.redisson.api.RLockAsync;
import org.redisson.api.RedissonClient;

/** Code that knows the JDK's interfaces alone. */
final class LocksOfTheJdk implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        for (Lock lock : new Lock[] {redisson.getLock("jdk"), redisson.getFairLock("jdk-fair"), redisson.getMultiLock(redisson.getLock("jdk-1"), redisson.getLock("jdk-2"))}) {
            show.line("guarded", guarded(lock, () -> show.elsewhere(() -> lock.tryLock())), lock.tryLock(1, TimeUnit.SECONDS));
            lock.unlock();
            lock.lockInterruptibly();
            lock.unlock();
            show.of("conditions", lock::newCondition);
            show.line("kinds", lock instanceof RLock, lock instanceof RLockAsync);
        }
        ReadWriteLock library = redisson.getReadWriteLock("jdk-library");
        show.line("readers", guarded(library.readLock(), () -> show.elsewhere(() -> guarded(library.readLock(), () -> "two readers"))));
        show.line("a writer", guarded(library.writeLock(), () -> show.elsewhere(() -> library.readLock().tryLock())));
    }

    private static <V> V guarded(Lock lock, Callable<V> work) throws Exception {
        lock.lock();
        try {
            return work.call();
        } finally {
            lock.unlock();
        }
    }
}

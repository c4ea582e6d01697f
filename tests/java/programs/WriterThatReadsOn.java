import java.util.concurrent.TimeUnit;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;

/** A cache entry is refreshed under the write lock and then read on under the read lock, without a gap. */
final class WriterThatReadsOn implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RReadWriteLock lock = redisson.getReadWriteLock("entry");
        lock.writeLock().lock();
        show.line("readers", show.elsewhere(() -> lock.readLock().tryLock(50, TimeUnit.MILLISECONDS)));
        lock.readLock().lock();
        show.line("both", lock.writeLock().getHoldCount(), lock.readLock().getHoldCount(), lock.writeLock().isHeldByCurrentThread());
        lock.writeLock().unlock();
        show.line("reads on", show.elsewhere(() -> {
            boolean isReader = lock.readLock().tryLock();
            lock.readLock().unlock();
            return isReader;
        }), lock.readLock().isHeldByCurrentThread(), lock.writeLock().isHeldByCurrentThread());
        show.line("a writer waits", show.elsewhere(() -> lock.writeLock().tryLock(100, TimeUnit.MILLISECONDS)));
        lock.readLock().unlock();
        show.line("twice", lock.writeLock().tryLock(), lock.writeLock().tryLock(), lock.writeLock().getHoldCount());
        lock.writeLock().unlock();
        lock.readLock().lock();
        lock.readLock().lock();
        show.line("both again", lock.readLock().getHoldCount(), lock.writeLock().getHoldCount());
        lock.writeLock().unlock();
        lock.readLock().unlock();
        show.line("one left", lock.readLock().isLocked(), lock.readLock().getHoldCount(), show.elsewhere(() -> lock.writeLock().tryLock()));
        lock.readLock().unlock();
        show.of("none left", () -> {
            lock.writeLock().unlock();
            return "done";
        });
    }
}

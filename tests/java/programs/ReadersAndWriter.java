import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;

/** Many readers or one writer. */
final class ReadersAndWriter implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RReadWriteLock lock = redisson.getReadWriteLock("document");
        lock.readLock().lock();
        show.line("readers", show.elsewhere(() -> {
            boolean locked = lock.readLock().tryLock();
            lock.readLock().unlock();
            return locked;
        }), show.elsewhere(() -> lock.writeLock().tryLock()), lock.readLock().isLocked(), lock.writeLock().isLocked());
        lock.readLock().unlock();
        RLock writer = lock.writeLock();
        writer.lock(10, TimeUnit.SECONDS);
        show.line("writer", show.elsewhere(() -> lock.readLock().tryLock()), show.elsewhere(writer::tryLock),
                writer.isHeldByCurrentThread());
        lock.readLock().lock();
        show.line("reads on", lock.readLock().getHoldCount(), writer.getHoldCount());
        writer.unlock();
        show.line("reads only", show.elsewhere(() -> {
            boolean locked = lock.readLock().tryLock();
            lock.readLock().unlock();
            return locked;
        }), writer.isLocked());
        lock.readLock().unlock();
        show.line("free", lock.readLock().isLocked(), writer.isLocked());
        show.of("not held", () -> {
            lock.readLock().unlock();
            return "done";
        });
    }
}

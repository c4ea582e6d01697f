import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** An administrator's process frees a lock. */
final class ForcedByAnother implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RedissonClient administrator = Clients.create(redisson.getConfig());
        RLock lock = redisson.getLock("stuck");
        lock.lock();
        lock.lock();
        CompletableFuture<Boolean> waiter = show.started(() -> {
            boolean isHeld = lock.tryLock(15, 10, TimeUnit.SECONDS);
            lock.unlock();
            return isHeld;
        });
        show.untilAnyWaits("redisson_lock__channel:{stuck}");
        show.line("forced", administrator.getLock("stuck").forceUnlock());
        show.line("the next one", show.get(waiter));
        show.line("the former one", lock.isHeldByCurrentThread(), lock.getHoldCount(), lock.isLocked());
        for (int i = 0; i < 2; i++) {
            show.of("its unlock", () -> {
                lock.unlock();
                return "done";
            });
        }
        show.line("nothing to free", administrator.getLock("stuck").forceUnlock(), show.get(administrator.getLock("stuck").forceUnlockAsync()));
        RLock reader = redisson.getReadWriteLock("stuck-document").readLock();
        reader.lock();
        show.line("a reader", administrator.getReadWriteLock("stuck-document").readLock().forceUnlock(), reader.isLocked());
        RLock fair = redisson.getFairLock("stuck-queue");
        fair.lock();
        show.line("a fair one", administrator.getFairLock("stuck-queue").forceUnlock(), fair.isLocked());
        administrator.shutdown();
    }
}

import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Single;
import io.reactivex.rxjava3.disposables.Disposable;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RFencedLockRx;
import org.redisson.api.RLock;
import org.redisson.api.RLockRx;
import org.redisson.api.RPermitExpirableSemaphoreRx;
import org.redisson.api.RReadWriteLockRx;
import org.redisson.api.RSemaphoreRx;
import org.redisson.api.RedissonClient;
import org.redisson.api.RedissonRxClient;
import org.redisson.api.options.KeysScanOptions;

/** Locks in a chain of RxJava; a number stands for the owner. */
final class RxLocks implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RedissonRxClient rx = redisson.rxJava();
        RLockRx lock = rx.getLock("rx");
        RLock plain = redisson.getLock("rx");
        Completable unused = lock.lock(1);
        show.line("assembled", lock.getName(), plain.isLocked());
        unused.blockingAwait();
        show.line("subscribed", plain.isLocked(), lock.isHeldByThread(1).blockingGet(), lock.isHeldByThread(2).blockingGet());
        show.line("another", lock.tryLock(2).blockingGet(), lock.tryLock(10, 5000, TimeUnit.MILLISECONDS, 2).blockingGet());
        Single<Boolean> waiter = lock.tryLock(20, 20, TimeUnit.SECONDS, 3);
        show.line("handed over", waiter.zipWith(lock.unlock(1).toSingleDefault("back"), (held, back) -> back + held).blockingGet());
        show.of("not held", () -> {
            lock.unlock(1).blockingAwait();
            return "done";
        });
        Disposable disposed = lock.lock(5).subscribe();
        disposed.dispose();
        // Redisson's waiter may have the lock all the same.
        show.line("disposed", disposed.isDisposed(), lock.isHeldByThread(3).blockingGet(), lock.forceUnlock().blockingGet());
        RFencedLockRx fenced = rx.getFencedLock("rx-fenced");
        long first = fenced.lockAndGetToken().blockingGet();
        show.line("fenced", fenced.getToken().blockingGet() == first, fenced.forceUnlock().blockingGet());
        RReadWriteLockRx library = rx.getReadWriteLock("rx-library");
        show.line("readers", library.readLock().tryLock(1).blockingGet(), library.readLock().tryLock(2).blockingGet(),
                library.writeLock().tryLock(3).blockingGet());
        RSemaphoreRx semaphore = rx.getSemaphore("rx-semaphore");
        show.line("permits", semaphore.trySetPermits(2).blockingGet(), semaphore.tryAcquire(3).blockingGet(), semaphore.availablePermits().blockingGet());
        semaphore.acquire(2).andThen(semaphore.release(2)).blockingAwait();
        show.line("permits left", semaphore.drainPermits().blockingGet(), semaphore.delete().blockingGet());
        RPermitExpirableSemaphoreRx permits = rx.getPermitExpirableSemaphore("rx-permits");
        show.line("none yet", permits.tryAcquire().isEmpty().blockingGet());
        show.of("set", () -> permits.setPermits(1).blockingGet());
        String permit = permits.acquire().blockingGet();
        show.line("one", permits.tryAcquire().isEmpty().blockingGet(), permits.tryRelease(permit).blockingGet());
        RLockRx multi = rx.getMultiLock(rx.getLock("rx-a"), rx.getLock("rx-b"));
        show.line("multi", multi.tryLock(7).blockingGet(), redisson.getLock("rx-b").isLocked());
        multi.unlock(7).blockingAwait();
        show.line("names", rx.getKeys().getKeys(KeysScanOptions.defaults().pattern("rx-lib*")).toList().blockingGet(), rx.getKeys().countExists("rx-library").blockingGet());
    }
}

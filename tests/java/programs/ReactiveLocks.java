import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.api.RFencedLockReactive;
import org.redisson.api.RLock;
import org.redisson.api.RLockReactive;
import org.redisson.api.RReadWriteLockReactive;
import org.redisson.api.RSemaphoreReactive;
import org.redisson.api.RedissonClient;
import org.redisson.api.RedissonReactiveClient;
import org.redisson.api.options.KeysScanOptions;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Locks in a chain of Reactor; a number stands for the owner. */
final class ReactiveLocks implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RedissonReactiveClient reactive = redisson.reactive();
        RLockReactive lock = reactive.getLock("reactive");
        RLock plain = redisson.getLock("reactive");
        Mono<Void> unused = lock.lock(1);
        show.line("assembled", lock.getName(), plain.isLocked());
        unused.block();
        show.line("subscribed", plain.isLocked(), lock.isHeldByThread(1).block(), lock.isHeldByThread(2).block());
        show.line("another", lock.tryLock(2).block(), lock.tryLock(10, 5000, TimeUnit.MILLISECONDS, 2).block());
        show.line("twice", lock.lock(1).then(lock.unlock(1)).block(), lock.isHeldByThread(1).block());
        AtomicInteger orders = new AtomicInteger();
        Mono<Integer> guarded = Mono.usingWhen(lock.lock(3).thenReturn(3L), owner -> Mono.fromCallable(orders::incrementAndGet), lock::unlock);
        Mono<Integer> both = guarded.zipWith(lock.unlock(1).then(Mono.just(0)), Integer::sum);
        show.line("handed over", both.block(Duration.ofSeconds(20)), plain.isLocked());
        show.of("not held", () -> lock.unlock(3).block());
        show.of("recovered", () -> lock.unlock(3).onErrorResume(IllegalMonitorStateException.class, e -> Mono.empty()).block());
        lock.lock(4).block();
        Disposable waiter = lock.lock(5).subscribe();
        waiter.dispose();
        // Redisson's waiter may have the lock all the same.
        show.line("disposed", waiter.isDisposed(), lock.isHeldByThread(4).block(), lock.forceUnlock().block());
        RFencedLockReactive fenced = reactive.getFencedLock("reactive-fenced");
        long first = fenced.lockAndGetToken().block();
        show.line("fenced", fenced.getToken().block() == first, fenced.remainTimeToLive().block() > 1000, fenced.forceUnlock().block());
        RReadWriteLockReactive library = reactive.getReadWriteLock("reactive-library");
        show.line("readers", library.readLock().tryLock(1).block(), library.readLock().tryLock(2).block(), library.writeLock().tryLock(3).block());
        RSemaphoreReactive semaphore = reactive.getSemaphore("reactive-semaphore");
        show.line("permits", semaphore.trySetPermits(2).block(), semaphore.tryAcquire(3).block(), semaphore.acquire(2).block(),
                semaphore.availablePermits().block(), semaphore.release(2).block(), semaphore.delete().block());
        RLockReactive multi = reactive.getMultiLock(reactive.getLock("reactive-a"), reactive.getLock("reactive-b"));
        show.line("multi", multi.tryLock(7).block(), redisson.getLock("reactive-b").isLocked(), multi.unlock(7).block());
        show.line("latch", reactive.getCountDownLatch("reactive-latch").trySetCount(1).block(), reactive.getCountDownLatch("reactive-latch").countDown().block(),
                reactive.getCountDownLatch("reactive-latch").await().block());
        show.line("permit", reactive.getPermitExpirableSemaphore("reactive-permits").tryAcquire().blockOptional());
        show.line("names", reactive.getKeys().getKeys(KeysScanOptions.defaults().pattern("reactive-lib*")).collectList().block(), reactive.getKeys().countExists("reactive-library").block());
        show.line("client", reactive.getId().equals(redisson.getId()), reactive.isShutdown());
    }
}

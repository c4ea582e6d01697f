import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Maybe;
import io.reactivex.rxjava3.schedulers.Schedulers;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.redisson.api.RLockRx;
import org.redisson.api.RedissonClient;
import org.redisson.api.RedissonRxClient;

/** Flows of RxJava whose steps run on several threads. */
final class RxTransfers implements SmallProgram {
    private final AtomicLong owners = new AtomicLong(1000);
    private int balance;

    @Override
    public void run(RedissonClient client, Show show) throws Exception {
        RedissonRxClient redisson = client.rxJava();
        RLockRx lock = redisson.getLock("rx-account");
        Completable all = Flowable.range(1, 12).flatMapCompletable(amount -> guarded(lock, Completable.fromAction(() -> {
            int seen = balance;
            Thread.sleep(2);
            balance = seen + amount;
        }).subscribeOn(Schedulers.io())));
        show.line("in time", all.blockingAwait(50, TimeUnit.SECONDS), balance, lock.isLocked().blockingGet());
        show.of("the work fails", () -> guarded(lock, Completable.error(new IllegalStateException("no money"))).toSingleDefault("done").blockingGet());
        show.line("free all the same", lock.isLocked().blockingGet());
        lock.lock(1).blockingAwait();
        Maybe<String> onlyIfFree = lock.tryLock(2).filter(isHeld -> isHeld).map(isHeld -> "paid").defaultIfEmpty("busy").toMaybe();
        show.line("busy", onlyIfFree.blockingGet());
        show.line("in vain", lock.tryLock(100, 1000, TimeUnit.MILLISECONDS, 2).blockingGet());
        show.of("another's", () -> lock.unlock(2).toSingleDefault("done").blockingGet());
        lock.unlock(1).blockingAwait();
        show.line("holds", lock.getHoldCount().blockingGet(), lock.remainTimeToLive().blockingGet());
    }

    private Completable guarded(RLockRx lock, Completable work) {
        return Completable.defer(() -> {
            long owner = owners.incrementAndGet();
            return lock.lock(owner).andThen(work.materialize()).flatMapCompletable(
                    end -> lock.unlock(owner).andThen(end.isOnError() ? Completable.error(end.getError()) : Completable.complete()));
        });
    }
}

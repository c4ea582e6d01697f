package org.redisson.api;

import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Single;
import java.util.concurrent.TimeUnit;

/**
 * Locks for RxJava: the methods of {@link RLockAsync}, each carried out once per subscription.
 *
 * <p>Without the parameter {@code threadId} the owner is the thread that subscribes. A chain usually runs on several threads,
 * so one that acquires and releases should name a number of its own, or use {@link io.redlatch.Lease#lockAsync(RLock)}, which has no thread.
 *
 * <p>Cancelling a subscription gives the request up, at any moment: a lock that it still took goes back.
 */
public interface RLockRx extends RObservableRx {
    /** As {@link RLock#getName()}. */
    String getName();

    /** As {@link RLockAsync#forceUnlockAsync()}. */
    Single<Boolean> forceUnlock();

    /** As {@link RLockAsync#unlockAsync()}. */
    Completable unlock();

    /** As {@link RLockAsync#unlockAsync(long)}. */
    Completable unlock(long threadId);

    /** As {@link RLockAsync#tryLockAsync()}. */
    Single<Boolean> tryLock();

    /** As {@link RLockAsync#lockAsync()}. */
    Completable lock();

    /** As {@link RLockAsync#lockAsync(long)}. */
    Completable lock(long threadId);

    /** As {@link RLockAsync#lockAsync(long, TimeUnit)}. */
    Completable lock(long leaseTime, TimeUnit unit);

    /** As {@link RLockAsync#lockAsync(long, TimeUnit, long)}. */
    Completable lock(long leaseTime, TimeUnit unit, long threadId);

    /** As {@link RLockAsync#tryLockAsync(long)}. */
    Single<Boolean> tryLock(long threadId);

    /** As {@link RLockAsync#tryLockAsync(long, TimeUnit)}. */
    Single<Boolean> tryLock(long waitTime, TimeUnit unit);

    /** As {@link RLockAsync#tryLockAsync(long, long, TimeUnit)}. */
    Single<Boolean> tryLock(long waitTime, long leaseTime, TimeUnit unit);

    /** As {@link RLockAsync#tryLockAsync(long, long, TimeUnit, long)}. */
    Single<Boolean> tryLock(long waitTime, long leaseTime, TimeUnit unit, long threadId);

    /** As {@link RLockAsync#getHoldCountAsync()}. */
    Single<Integer> getHoldCount();

    /** As {@link RLockAsync#isLockedAsync()}. */
    Single<Boolean> isLocked();

    /** As {@link RLockAsync#isHeldByThreadAsync(long)}. */
    Single<Boolean> isHeldByThread(long threadId);

    /** As {@link RLockAsync#remainTimeToLiveAsync()}. */
    Single<Long> remainTimeToLive();
}

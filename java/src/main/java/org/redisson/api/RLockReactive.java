package org.redisson.api;

import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/**
 * Locks for Reactor: the methods of {@link RLockAsync}, each carried out once per subscription.
 *
 * <p>Without the parameter {@code threadId} the owner is the thread that asks for the element, mostly the one that subscribes. A chain usually runs on several threads,
 * so one that acquires and releases should name a number of its own, or use {@link io.redlatch.ReactiveLease}, which has no thread.
 *
 * <p>Cancelling a subscription gives the request up, at any moment: a lock that it still took goes back.
 */
public interface RLockReactive extends RObservableReactive {
    /** As {@link RLock#getName()}. */
    String getName();

    /** As {@link RLockAsync#forceUnlockAsync()}. */
    Mono<Boolean> forceUnlock();

    /** As {@link RLockAsync#unlockAsync()}. */
    Mono<Void> unlock();

    /** As {@link RLockAsync#unlockAsync(long)}. */
    Mono<Void> unlock(long threadId);

    /** As {@link RLockAsync#tryLockAsync()}. */
    Mono<Boolean> tryLock();

    /** As {@link RLockAsync#lockAsync()}. */
    Mono<Void> lock();

    /** As {@link RLockAsync#lockAsync(long)}. */
    Mono<Void> lock(long threadId);

    /** As {@link RLockAsync#lockAsync(long, TimeUnit)}. */
    Mono<Void> lock(long leaseTime, TimeUnit unit);

    /** As {@link RLockAsync#lockAsync(long, TimeUnit, long)}. */
    Mono<Void> lock(long leaseTime, TimeUnit unit, long threadId);

    /** As {@link RLockAsync#tryLockAsync(long)}. */
    Mono<Boolean> tryLock(long threadId);

    /** As {@link RLockAsync#tryLockAsync(long, TimeUnit)}. */
    Mono<Boolean> tryLock(long waitTime, TimeUnit unit);

    /** As {@link RLockAsync#tryLockAsync(long, long, TimeUnit)}. */
    Mono<Boolean> tryLock(long waitTime, long leaseTime, TimeUnit unit);

    /** As {@link RLockAsync#tryLockAsync(long, long, TimeUnit, long)}. */
    Mono<Boolean> tryLock(long waitTime, long leaseTime, TimeUnit unit, long threadId);

    /** As {@link RLockAsync#getHoldCountAsync()}. */
    Mono<Integer> getHoldCount();

    /** As {@link RLockAsync#isLockedAsync()}. */
    Mono<Boolean> isLocked();

    /** As {@link RLockAsync#isHeldByThreadAsync(long)}. */
    Mono<Boolean> isHeldByThread(long threadId);

    /** As {@link RLockAsync#remainTimeToLiveAsync()}. */
    Mono<Long> remainTimeToLive();
}

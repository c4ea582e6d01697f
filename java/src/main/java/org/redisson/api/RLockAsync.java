package org.redisson.api;

import java.util.concurrent.TimeUnit;

/**
 * The asynchronous half of {@link RLock}: nothing blocks, results and errors come with the future.
 *
 * <p>Each hold belongs to a thread id, which need not be that of a thread: any number will do that means one holder to the caller.
 * Methods without the parameter {@code threadId} use the id of the calling thread. Continuations usually run on another thread, so
 * a chain that acquires and releases should name the id.
 *
 * <p>Times: a lease of 0 or less is renewed until release; a wait of 0 or less tries once; a wait of 100 years or more is for ever.
 * Futures fail with the exceptions of {@link RLock}.
 */
public interface RLockAsync extends RObservableAsync {
    /** Takes the lock away from its holder. True if there was one. */
    RFuture<Boolean> forceUnlockAsync();

    /** Gives one hold of the calling thread back. */
    RFuture<Void> unlockAsync();

    /** Gives one hold of {@code threadId} back. */
    RFuture<Void> unlockAsync(long threadId);

    /** Tries once to acquire for the calling thread, with a renewed lease. */
    RFuture<Boolean> tryLockAsync();

    /** Acquires for the calling thread, with a renewed lease. */
    RFuture<Void> lockAsync();

    /** Acquires for {@code threadId}, with a renewed lease. The number is a thread id, not a lease. */
    RFuture<Void> lockAsync(long threadId);

    /** Acquires for the calling thread, for at most {@code leaseTime}. */
    RFuture<Void> lockAsync(long leaseTime, TimeUnit unit);

    /** Acquires for {@code threadId}, for at most {@code leaseTime}. */
    RFuture<Void> lockAsync(long leaseTime, TimeUnit unit, long threadId);

    /** Tries once to acquire for {@code threadId}, with a renewed lease. */
    RFuture<Boolean> tryLockAsync(long threadId);

    /** Waits at most {@code waitTime} to acquire for the calling thread, with a renewed lease. */
    RFuture<Boolean> tryLockAsync(long waitTime, TimeUnit unit);

    /** Waits at most {@code waitTime} to acquire for the calling thread, for at most {@code leaseTime}. */
    RFuture<Boolean> tryLockAsync(long waitTime, long leaseTime, TimeUnit unit);

    /** Waits at most {@code waitTime} to acquire for {@code threadId}, for at most {@code leaseTime}. */
    RFuture<Boolean> tryLockAsync(long waitTime, long leaseTime, TimeUnit unit, long threadId);

    /** How many holds the calling thread has. */
    RFuture<Integer> getHoldCountAsync();

    /** Whether {@code threadId} holds the lock through this client. */
    RFuture<Boolean> isHeldByThreadAsync(long threadId);

    /** Whether the lock has a holder. */
    RFuture<Boolean> isLockedAsync();

    /** How long the present hold lasts unless it is renewed, in ms; −1 without an end, −2 of a free lock. */
    RFuture<Long> remainTimeToLiveAsync();
}

package org.redisson.api;

import java.util.concurrent.TimeUnit;

/**
 * A reentrant lock that numbers its holds: each token is greater than all before it.
 *
 * <p>The guarded resource compares the tokens that come to it, and refuses one that is smaller than an earlier one: so a thread that stood
 * still and lost the lock meanwhile does no harm. Interrupts end none of these methods; the thread is interrupted again afterwards.
 * Otherwise they are those of {@link RLock}.
 */
public interface RFencedLock extends RLock, RFencedLockAsync {
    /**
     * The token that was drawn last, for any owner; 0: none yet. A client draws tokens for its waiters in advance, so this one may belong to
     * no hold.
     */
    Long getToken();

    /** As {@link #lock()}, and gives the token. */
    Long lockAndGetToken();

    /** As {@link #lock(long, TimeUnit)}, and gives the token. */
    Long lockAndGetToken(long leaseTime, TimeUnit unit);

    /** As {@link #tryLock()}, and gives the token, or null if the lock is not acquired. */
    Long tryLockAndGetToken();

    /** As {@link #tryLock(long, TimeUnit)}, and gives the token, or null if the lock is not acquired. */
    Long tryLockAndGetToken(long waitTime, TimeUnit unit);

    /** As {@link #tryLock(long, long, TimeUnit)}, and gives the token, or null if the lock is not acquired. */
    Long tryLockAndGetToken(long waitTime, long leaseTime, TimeUnit unit);
}

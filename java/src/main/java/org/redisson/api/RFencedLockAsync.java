package org.redisson.api;

import java.util.concurrent.TimeUnit;

/** The asynchronous half of {@link RFencedLock}. */
public interface RFencedLockAsync extends RLockAsync {
    /** As {@link RFencedLock#getToken()}. */
    RFuture<Long> getTokenAsync();

    /** As {@link RFencedLock#lockAndGetToken()}. */
    RFuture<Long> lockAndGetTokenAsync();

    /** As {@link RFencedLock#lockAndGetToken(long, TimeUnit)}. */
    RFuture<Long> lockAndGetTokenAsync(long leaseTime, TimeUnit unit);

    /** As {@link RFencedLock#tryLockAndGetToken()}. */
    RFuture<Long> tryLockAndGetTokenAsync();

    /** As {@link RFencedLock#tryLockAndGetToken(long, TimeUnit)}. */
    RFuture<Long> tryLockAndGetTokenAsync(long waitTime, TimeUnit unit);

    /** As {@link RFencedLock#tryLockAndGetToken(long, long, TimeUnit)}. */
    RFuture<Long> tryLockAndGetTokenAsync(long waitTime, long leaseTime, TimeUnit unit);
}

package org.redisson.api;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The asynchronous half of {@link RSemaphore}. */
public interface RSemaphoreAsync extends RExpirableAsync {
    /** As {@link RSemaphore#acquire()}. */
    RFuture<Void> acquireAsync();

    /** As {@link RSemaphore#acquire(int)}. */
    RFuture<Void> acquireAsync(int permits);

    /** As {@link RSemaphore#tryAcquire()}. */
    RFuture<Boolean> tryAcquireAsync();

    /** As {@link RSemaphore#tryAcquire(int)}. */
    RFuture<Boolean> tryAcquireAsync(int permits);

    /** As {@link RSemaphore#tryAcquire(Duration)}. */
    RFuture<Boolean> tryAcquireAsync(Duration waitTime);

    /** As {@link RSemaphore#tryAcquire(int, Duration)}. */
    RFuture<Boolean> tryAcquireAsync(int permits, Duration waitTime);

    /** As {@link RSemaphore#tryAcquire(long, TimeUnit)}. */
    @Deprecated
    RFuture<Boolean> tryAcquireAsync(long waitTime, TimeUnit unit);

    /** As {@link RSemaphore#tryAcquire(int, long, TimeUnit)}. */
    @Deprecated
    RFuture<Boolean> tryAcquireAsync(int permits, long waitTime, TimeUnit unit);

    /** As {@link RSemaphore#release()}. */
    RFuture<Void> releaseAsync();

    /** As {@link RSemaphore#release(int)}. */
    RFuture<Void> releaseAsync(int permits);

    /** As {@link RSemaphore#releaseIfExists(int)}. */
    RFuture<Boolean> releaseIfExistsAsync(int permits);

    /** As {@link RSemaphore#availablePermits()}. */
    RFuture<Integer> availablePermitsAsync();

    /** As {@link RSemaphore#drainPermits()}. */
    RFuture<Integer> drainPermitsAsync();

    /** As {@link RSemaphore#trySetPermits(int)}. */
    RFuture<Boolean> trySetPermitsAsync(int permits);

    /** As {@link RSemaphore#trySetPermits(int, Duration)}. */
    RFuture<Boolean> trySetPermitsAsync(int permits, Duration ttl);

    /** As {@link RSemaphore#addPermits(int)}. */
    RFuture<Void> addPermitsAsync(int permits);
}

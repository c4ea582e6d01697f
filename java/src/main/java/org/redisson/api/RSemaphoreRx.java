package org.redisson.api;

import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Single;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Permits that any owner takes and gives back, for RxJava: the methods of {@link RSemaphoreAsync}, each carried out once per subscription. */
public interface RSemaphoreRx extends RExpirableRx {
    /** As {@link RSemaphoreAsync#tryAcquireAsync()}. */
    Single<Boolean> tryAcquire();

    /** As {@link RSemaphoreAsync#tryAcquireAsync(int)}. */
    Single<Boolean> tryAcquire(int permits);

    /** As {@link RSemaphoreAsync#acquireAsync()}. */
    Completable acquire();

    /** As {@link RSemaphoreAsync#acquireAsync(int)}. */
    Completable acquire(int permits);

    /** As {@link RSemaphoreAsync#releaseAsync()}. */
    Completable release();

    /** As {@link RSemaphoreAsync#releaseAsync(int)}. */
    Completable release(int permits);

    /** As {@link RSemaphoreAsync#releaseIfExistsAsync(int)}. */
    Single<Boolean> releaseIfExists(int permits);

    /** As {@link RSemaphoreAsync#trySetPermitsAsync(int)}. */
    Single<Boolean> trySetPermits(int permits);

    /** As {@link RSemaphoreAsync#trySetPermitsAsync(int, Duration)}. */
    Single<Boolean> trySetPermits(int permits, Duration timeToLive);

    /** @deprecated as {@link RSemaphoreAsync#tryAcquireAsync(long, TimeUnit)} */
    @Deprecated
    Single<Boolean> tryAcquire(long waitTime, TimeUnit unit);

    /** As {@link RSemaphoreAsync#tryAcquireAsync(Duration)}. */
    Single<Boolean> tryAcquire(Duration waitTime);

    /** @deprecated as {@link RSemaphoreAsync#tryAcquireAsync(int, long, TimeUnit)} */
    @Deprecated
    Single<Boolean> tryAcquire(int permits, long waitTime, TimeUnit unit);

    /** As {@link RSemaphoreAsync#tryAcquireAsync(int, Duration)}. */
    Single<Boolean> tryAcquire(int permits, Duration waitTime);

    /** As {@link RSemaphoreAsync#addPermitsAsync(int)}. */
    Completable addPermits(int permits);

    /** As {@link RSemaphoreAsync#availablePermitsAsync()}. */
    Single<Integer> availablePermits();

    /** As {@link RSemaphoreAsync#drainPermitsAsync()}. */
    Single<Integer> drainPermits();
}

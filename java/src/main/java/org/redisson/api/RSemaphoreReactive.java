package org.redisson.api;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/** Permits that any owner takes and gives back, for Reactor: the methods of {@link RSemaphoreAsync}, each carried out once per subscription. */
public interface RSemaphoreReactive extends RExpirableReactive {
    /** As {@link RSemaphoreAsync#tryAcquireAsync()}. */
    Mono<Boolean> tryAcquire();

    /** As {@link RSemaphoreAsync#tryAcquireAsync(int)}. */
    Mono<Boolean> tryAcquire(int permits);

    /** As {@link RSemaphoreAsync#acquireAsync()}. */
    Mono<Void> acquire();

    /** As {@link RSemaphoreAsync#acquireAsync(int)}. */
    Mono<Void> acquire(int permits);

    /** As {@link RSemaphoreAsync#releaseAsync()}. */
    Mono<Void> release();

    /** As {@link RSemaphoreAsync#releaseAsync(int)}. */
    Mono<Void> release(int permits);

    /** As {@link RSemaphoreAsync#releaseIfExistsAsync(int)}. */
    Mono<Boolean> releaseIfExists(int permits);

    /** As {@link RSemaphoreAsync#trySetPermitsAsync(int)}. */
    Mono<Boolean> trySetPermits(int permits);

    /** As {@link RSemaphoreAsync#trySetPermitsAsync(int, Duration)}. */
    Mono<Boolean> trySetPermits(int permits, Duration timeToLive);

    /** @deprecated as {@link RSemaphoreAsync#tryAcquireAsync(long, TimeUnit)} */
    @Deprecated
    Mono<Boolean> tryAcquire(long waitTime, TimeUnit unit);

    /** As {@link RSemaphoreAsync#tryAcquireAsync(Duration)}. */
    Mono<Boolean> tryAcquire(Duration waitTime);

    /** @deprecated as {@link RSemaphoreAsync#tryAcquireAsync(int, long, TimeUnit)} */
    @Deprecated
    Mono<Boolean> tryAcquire(int permits, long waitTime, TimeUnit unit);

    /** As {@link RSemaphoreAsync#tryAcquireAsync(int, Duration)}. */
    Mono<Boolean> tryAcquire(int permits, Duration waitTime);

    /** As {@link RSemaphoreAsync#addPermitsAsync(int)}. */
    Mono<Void> addPermits(int permits);

    /** As {@link RSemaphoreAsync#availablePermitsAsync()}. */
    Mono<Integer> availablePermits();

    /** As {@link RSemaphoreAsync#drainPermitsAsync()}. */
    Mono<Integer> drainPermits();
}

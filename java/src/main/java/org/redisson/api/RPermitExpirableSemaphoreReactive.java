package org.redisson.api;

import java.util.List;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/** Permits with ids, which may have leases, for Reactor: the methods of {@link RPermitExpirableSemaphoreAsync}, each carried out once per subscription. */
public interface RPermitExpirableSemaphoreReactive extends RExpirableReactive {
    /** As {@link RPermitExpirableSemaphoreAsync#acquireAsync()}. */
    Mono<String> acquire();

    /** As {@link RPermitExpirableSemaphoreAsync#acquireAsync(int)}. */
    Mono<List<String>> acquire(int permits);

    /** As {@link RPermitExpirableSemaphoreAsync#acquireAsync(long, TimeUnit)}. */
    Mono<String> acquire(long leaseTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphoreAsync#acquireAsync(int, long, TimeUnit)}. */
    Mono<List<String>> acquire(int permits, long leaseTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphoreAsync#tryAcquireAsync()}. */
    Mono<String> tryAcquire();

    /** As {@link RPermitExpirableSemaphoreAsync#tryAcquireAsync(int)}. */
    Mono<List<String>> tryAcquire(int permits);

    /** As {@link RPermitExpirableSemaphoreAsync#tryAcquireAsync(long, TimeUnit)}. */
    Mono<String> tryAcquire(long waitTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphoreAsync#tryAcquireAsync(long, long, TimeUnit)}. */
    Mono<String> tryAcquire(long waitTime, long leaseTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphoreAsync#tryAcquireAsync(int, long, long, TimeUnit)}. */
    Mono<List<String>> tryAcquire(int permits, long waitTime, long leaseTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphoreAsync#tryReleaseAsync(String)}. */
    Mono<Boolean> tryRelease(String permitId);

    /** As {@link RPermitExpirableSemaphoreAsync#tryReleaseAsync(List)}. */
    Mono<Integer> tryRelease(List<String> permitsIds);

    /** As {@link RPermitExpirableSemaphoreAsync#releaseAsync(String)}. */
    Mono<Void> release(String permitId);

    /** As {@link RPermitExpirableSemaphoreAsync#releaseAsync(List)}. */
    Mono<Void> release(List<String> permitsIds);

    /** As {@link RPermitExpirableSemaphoreAsync#availablePermitsAsync()}. */
    Mono<Integer> availablePermits();

    /** As {@link RPermitExpirableSemaphoreAsync#getPermitsAsync()}. */
    Mono<Integer> getPermits();

    /** As {@link RPermitExpirableSemaphoreAsync#acquiredPermitsAsync()}. */
    Mono<Integer> acquiredPermits();

    /** As {@link RPermitExpirableSemaphoreAsync#trySetPermitsAsync(int)}. */
    Mono<Boolean> trySetPermits(int permits);

    /** As {@link RPermitExpirableSemaphoreAsync#setPermitsAsync(int)}. */
    Mono<Void> setPermits(int permits);

    /** As {@link RPermitExpirableSemaphoreAsync#addPermitsAsync(int)}. */
    Mono<Void> addPermits(int permits);

    /** As {@link RPermitExpirableSemaphoreAsync#updateLeaseTimeAsync(String, long, TimeUnit)}. */
    Mono<Boolean> updateLeaseTime(String permitId, long leaseTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphoreAsync#getLeaseTimeAsync(String)}. */
    Mono<Long> getLeaseTime(String permitId);
}

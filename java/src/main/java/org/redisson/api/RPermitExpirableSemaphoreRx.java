package org.redisson.api;

import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Maybe;
import io.reactivex.rxjava3.core.Single;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Permits with ids, which may have leases, for RxJava: the methods of {@link RPermitExpirableSemaphoreAsync}, each carried out once per subscription. */
public interface RPermitExpirableSemaphoreRx extends RExpirableRx {
    /** As {@link RPermitExpirableSemaphoreAsync#acquireAsync()}. */
    Single<String> acquire();

    /** As {@link RPermitExpirableSemaphoreAsync#acquireAsync(int)}. */
    Single<List<String>> acquire(int permits);

    /** As {@link RPermitExpirableSemaphoreAsync#acquireAsync(long, TimeUnit)}. */
    Single<String> acquire(long leaseTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphoreAsync#acquireAsync(int, long, TimeUnit)}. */
    Single<List<String>> acquire(int permits, long leaseTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphoreAsync#tryAcquireAsync()}. */
    Maybe<String> tryAcquire();

    /** As {@link RPermitExpirableSemaphoreAsync#tryAcquireAsync(int)}. */
    Single<List<String>> tryAcquire(int permits);

    /** As {@link RPermitExpirableSemaphoreAsync#tryAcquireAsync(long, TimeUnit)}. */
    Maybe<String> tryAcquire(long waitTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphoreAsync#tryAcquireAsync(long, long, TimeUnit)}. */
    Maybe<String> tryAcquire(long waitTime, long leaseTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphoreAsync#tryAcquireAsync(int, long, long, TimeUnit)}. */
    Single<List<String>> tryAcquire(int permits, long waitTime, long leaseTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphoreAsync#tryReleaseAsync(String)}. */
    Single<Boolean> tryRelease(String permitId);

    /** As {@link RPermitExpirableSemaphoreAsync#tryReleaseAsync(List)}. */
    Single<Integer> tryRelease(List<String> permitsIds);

    /** As {@link RPermitExpirableSemaphoreAsync#releaseAsync(String)}. */
    Completable release(String permitId);

    /** As {@link RPermitExpirableSemaphoreAsync#releaseAsync(List)}. */
    Completable release(List<String> permitsIds);

    /** As {@link RPermitExpirableSemaphoreAsync#availablePermitsAsync()}. */
    Single<Integer> availablePermits();

    /** As {@link RPermitExpirableSemaphoreAsync#getPermitsAsync()}. */
    Single<Integer> getPermits();

    /** As {@link RPermitExpirableSemaphoreAsync#acquiredPermitsAsync()}. */
    Single<Integer> acquiredPermits();

    /** As {@link RPermitExpirableSemaphoreAsync#trySetPermitsAsync(int)}. */
    Single<Boolean> trySetPermits(int permits);

    /** As {@link RPermitExpirableSemaphoreAsync#setPermitsAsync(int)}. */
    Single<Void> setPermits(int permits);

    /** As {@link RPermitExpirableSemaphoreAsync#addPermitsAsync(int)}. */
    Completable addPermits(int permits);

    /** As {@link RPermitExpirableSemaphoreAsync#updateLeaseTimeAsync(String, long, TimeUnit)}. */
    Single<Boolean> updateLeaseTime(String permitId, long leaseTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphoreAsync#getLeaseTimeAsync(String)}. */
    Single<Long> getLeaseTime(String permitId);
}

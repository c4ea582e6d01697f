package org.redisson.api;

import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The methods of {@link RPermitExpirableSemaphore} in the background. Cancelling a future ends its wait; permits that it still took go back.
 *
 * <p>The release of a permit that is not out any more fails with an {@link IllegalArgumentException}.
 */
public interface RPermitExpirableSemaphoreAsync extends RExpirableAsync {
    /** As {@link RPermitExpirableSemaphore#acquire()}. */
    RFuture<String> acquireAsync();

    /** As {@link RPermitExpirableSemaphore#acquire(int)}. */
    RFuture<List<String>> acquireAsync(int permits);

    /** As {@link RPermitExpirableSemaphore#acquire(long, TimeUnit)}. */
    RFuture<String> acquireAsync(long leaseTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphore#acquire(int, long, TimeUnit)}. */
    RFuture<List<String>> acquireAsync(int permits, long leaseTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphore#tryAcquire()}. */
    RFuture<String> tryAcquireAsync();

    /** As {@link RPermitExpirableSemaphore#tryAcquire(int)}. */
    RFuture<List<String>> tryAcquireAsync(int permits);

    /** As {@link RPermitExpirableSemaphore#tryAcquire(long, TimeUnit)}. */
    RFuture<String> tryAcquireAsync(long waitTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphore#tryAcquire(long, long, TimeUnit)}. */
    RFuture<String> tryAcquireAsync(long waitTime, long leaseTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphore#tryAcquire(int, long, long, TimeUnit)}. */
    RFuture<List<String>> tryAcquireAsync(int permits, long waitTime, long leaseTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphore#tryRelease(String)}. */
    RFuture<Boolean> tryReleaseAsync(String permitId);

    /** As {@link RPermitExpirableSemaphore#tryRelease(List)}. */
    RFuture<Integer> tryReleaseAsync(List<String> permitsIds);

    /** As {@link RPermitExpirableSemaphore#release(String)}. */
    RFuture<Void> releaseAsync(String permitId);

    /** As {@link RPermitExpirableSemaphore#release(List)}. */
    RFuture<Void> releaseAsync(List<String> permitsIds);

    /** As {@link RPermitExpirableSemaphore#availablePermits()}. */
    RFuture<Integer> availablePermitsAsync();

    /** As {@link RPermitExpirableSemaphore#getPermits()}. */
    RFuture<Integer> getPermitsAsync();

    /** As {@link RPermitExpirableSemaphore#acquiredPermits()}. */
    RFuture<Integer> acquiredPermitsAsync();

    /** As {@link RPermitExpirableSemaphore#trySetPermits(int)}. */
    RFuture<Boolean> trySetPermitsAsync(int permits);

    /** As {@link RPermitExpirableSemaphore#setPermits(int)}. */
    RFuture<Void> setPermitsAsync(int permits);

    /** As {@link RPermitExpirableSemaphore#addPermits(int)}. */
    RFuture<Void> addPermitsAsync(int permits);

    /** As {@link RPermitExpirableSemaphore#updateLeaseTime(String, long, TimeUnit)}. */
    RFuture<Boolean> updateLeaseTimeAsync(String permitId, long leaseTime, TimeUnit unit);

    /** As {@link RPermitExpirableSemaphore#getLeaseTime(String)}. */
    RFuture<Long> getLeaseTimeAsync(String permitId);
}

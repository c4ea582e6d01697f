package org.redisson.api;

import io.reactivex.rxjava3.core.Maybe;
import io.reactivex.rxjava3.core.Single;
import java.util.concurrent.TimeUnit;

/** Locks that number their holds, for RxJava: the methods of {@link RFencedLockAsync}, each carried out once per subscription. */
public interface RFencedLockRx extends RLockRx {
    /** As {@link RFencedLockAsync#getTokenAsync()}. */
    Single<Long> getToken();

    /** As {@link RFencedLockAsync#lockAndGetTokenAsync()}. */
    Single<Long> lockAndGetToken();

    /** As {@link RFencedLockAsync#lockAndGetTokenAsync(long, TimeUnit)}. */
    Single<Long> lockAndGetToken(long leaseTime, TimeUnit unit);

    /** As {@link RFencedLockAsync#tryLockAndGetTokenAsync()}. */
    Maybe<Long> tryLockAndGetToken();

    /** As {@link RFencedLockAsync#tryLockAndGetTokenAsync(long, TimeUnit)}. */
    Maybe<Long> tryLockAndGetToken(long waitTime, TimeUnit unit);

    /** As {@link RFencedLockAsync#tryLockAndGetTokenAsync(long, long, TimeUnit)}. */
    Maybe<Long> tryLockAndGetToken(long waitTime, long leaseTime, TimeUnit unit);
}

package org.redisson.api;

import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/** Locks that number their holds, for Reactor: the methods of {@link RFencedLockAsync}, each carried out once per subscription. */
public interface RFencedLockReactive extends RLockReactive {
    /** As {@link RFencedLockAsync#getTokenAsync()}. */
    Mono<Long> getToken();

    /** As {@link RFencedLockAsync#lockAndGetTokenAsync()}. */
    Mono<Long> lockAndGetToken();

    /** As {@link RFencedLockAsync#lockAndGetTokenAsync(long, TimeUnit)}. */
    Mono<Long> lockAndGetToken(long leaseTime, TimeUnit unit);

    /** As {@link RFencedLockAsync#tryLockAndGetTokenAsync()}. */
    Mono<Long> tryLockAndGetToken();

    /** As {@link RFencedLockAsync#tryLockAndGetTokenAsync(long, TimeUnit)}. */
    Mono<Long> tryLockAndGetToken(long waitTime, TimeUnit unit);

    /** As {@link RFencedLockAsync#tryLockAndGetTokenAsync(long, long, TimeUnit)}. */
    Mono<Long> tryLockAndGetToken(long waitTime, long leaseTime, TimeUnit unit);
}

package org.redisson.api;

import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/** A count that opens a door at zero, for Reactor: the methods of {@link RCountDownLatchAsync}, each carried out once per subscription. */
public interface RCountDownLatchReactive extends RObjectReactive {
    /** As {@link RCountDownLatchAsync#awaitAsync()}. */
    Mono<Void> await();

    /** As {@link RCountDownLatchAsync#awaitAsync(long, TimeUnit)}. */
    Mono<Boolean> await(long waitTime, TimeUnit unit);

    /** As {@link RCountDownLatchAsync#countDownAsync()}. */
    Mono<Void> countDown();

    /** As {@link RCountDownLatchAsync#getCountAsync()}. */
    Mono<Long> getCount();

    /** As {@link RCountDownLatchAsync#trySetCountAsync(long)}. */
    Mono<Boolean> trySetCount(long count);
}

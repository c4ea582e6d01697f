package org.redisson.api;

import java.util.concurrent.TimeUnit;

/** The asynchronous half of {@link RCountDownLatch}. */
public interface RCountDownLatchAsync extends RObjectAsync {
    /** As {@link RCountDownLatch#await()}. */
    RFuture<Void> awaitAsync();

    /** As {@link RCountDownLatch#await(long, TimeUnit)}. */
    RFuture<Boolean> awaitAsync(long waitTime, TimeUnit unit);

    /** As {@link RCountDownLatch#countDown()}. */
    RFuture<Void> countDownAsync();

    /** As {@link RCountDownLatch#getCount()}. */
    RFuture<Long> getCountAsync();

    /** As {@link RCountDownLatch#trySetCount(long)}. */
    RFuture<Boolean> trySetCountAsync(long count);
}

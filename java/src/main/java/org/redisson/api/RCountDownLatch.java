package org.redisson.api;

import java.util.concurrent.TimeUnit;

/**
 * A count: threads of any process wait until it is zero. After that it can be set again.
 */
public interface RCountDownLatch extends RObject, RCountDownLatchAsync {
    /**
     * Waits until the count is zero, as long as that takes.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it took nothing
     */
    void await() throws InterruptedException;

    /**
     * Waits until the count is zero, for that time at most. True if it is.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it took nothing
     */
    boolean await(long waitTime, TimeUnit unit) throws InterruptedException;

    /** Counts one down; nothing happens at zero. */
    void countDown();

    /** How often the latch is still to be counted down. */
    long getCount();

    /** Sets the count, unless the present one is above zero. True if it did. */
    boolean trySetCount(long count);
}

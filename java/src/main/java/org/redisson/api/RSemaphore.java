package org.redisson.api;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Permits that any thread of any process takes and gives back. They have no holder: the permits of a process that died are out until another
 * process releases them.
 *
 * <p>Zero permits are always there; fewer are an {@link IllegalArgumentException}. Until permits were set ({@link #trySetPermits(int)}) there are
 * none, and an acquire waits.
 *
 * <p>Waiters of one client are served in the order in which they came, and one that wants more permits than there are does not stand in the
 * way of one that wants less: it is overtaken by some, then for at most a second by none, and so on. That holds inside one client; between
 * clients, the first to ask gets the permits that are there.
 */
public interface RSemaphore extends RExpirable, RSemaphoreAsync {
    /**
     * As {@link #acquire(int)}, one permit.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it took nothing
     */
    void acquire() throws InterruptedException;

    /**
     * Takes so many permits, all at once, and waits as long as that takes.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it took nothing
     */
    void acquire(int permits) throws InterruptedException;

    /** As {@link #tryAcquire(int)}, one permit. */
    boolean tryAcquire();

    /** Takes so many permits if they are available now. */
    boolean tryAcquire(int permits);

    /**
     * As {@link #tryAcquire(int, Duration)}, one permit.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it took nothing
     */
    boolean tryAcquire(Duration waitTime) throws InterruptedException;

    /**
     * Takes so many permits if they are available within that time.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it took nothing
     */
    boolean tryAcquire(int permits, Duration waitTime) throws InterruptedException;

    /**
     * As {@link #tryAcquire(Duration)}.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it took nothing
     * @deprecated use a {@link Duration}
     */
    @Deprecated
    boolean tryAcquire(long waitTime, TimeUnit unit) throws InterruptedException;

    /**
     * As {@link #tryAcquire(int, Duration)}.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it took nothing
     * @deprecated use a {@link Duration}
     */
    @Deprecated
    boolean tryAcquire(int permits, long waitTime, TimeUnit unit) throws InterruptedException;

    /** As {@link #release(int)}, one permit. */
    void release();

    /** Gives so many permits back, which any thread may have taken, and begins the semaphore if there is none. */
    void release(int permits);

    /** As {@link #release(int)}, only if there is such a semaphore. */
    boolean releaseIfExists(int permits);

    /** How many permits are available; 0 if they were never set. */
    int availablePermits();

    /** Takes all permits that are available, and says how many those were. */
    int drainPermits();

    /** Sets the count of permits, unless there is one. */
    boolean trySetPermits(int permits);

    /** As {@link #trySetPermits(int)}, and the semaphore ends after that time. */
    boolean trySetPermits(int permits, Duration ttl);

    /** Adds so many permits, or takes them away for good if it is negative. */
    void addPermits(int permits);
}

package org.redisson.api;

import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Permits with ids of 32 hexadecimal digits. Any thread of any process that knows the id of a permit can give it back, once.
 *
 * <p>A permit with a lease ends by itself: the permits of a process that died come back then. One without is out until it is given back. Until
 * the permits were set ({@link #trySetPermits}) there are none, and an acquire waits. Only permits that are out tell it from an
 * {@link RSemaphore} of the same name: do not mix them.
 *
 * <p>Waiters of one client are served in the order in which they came, and one that wants more permits than there are does not stand in the
 * way of one that wants less: it is overtaken by some, then for at most a second by none, and so on. That holds inside one client; between
 * clients, the first to ask gets the permits that are there.
 *
 * <p>Fewer than zero permits, and a lease that is neither longer than nothing nor -1 (without end), are an {@link IllegalArgumentException};
 * zero permits are always there. Ids that are no hexadecimal digits are one as well.
 */
public interface RPermitExpirableSemaphore extends RExpirable, RPermitExpirableSemaphoreAsync {
    /**
     * Takes a permit without an end, waits as long as that takes, and returns its id.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it took nothing
     */
    String acquire() throws InterruptedException;

    /**
     * Takes so many permits without an end, all at once, waits as long as that takes, and returns their ids.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it took nothing
     */
    List<String> acquire(int permits) throws InterruptedException;

    /**
     * As {@link #acquire()}, and the permit ends after {@code leaseTime}; -1: it does not.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it took nothing
     */
    String acquire(long leaseTime, TimeUnit unit) throws InterruptedException;

    /**
     * As {@link #acquire(int)}, and the permits end after {@code leaseTime}; -1: they do not.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it took nothing
     */
    List<String> acquire(int permits, long leaseTime, TimeUnit unit) throws InterruptedException;

    /** Takes a permit without an end if one is available now, and returns its id; else null. */
    String tryAcquire();

    /** Takes so many permits without an end if they are available now, and returns their ids; else an empty list. */
    List<String> tryAcquire(int permits);

    /**
     * Takes a permit without an end if one is available within that time, and returns its id; else null.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it took nothing
     */
    String tryAcquire(long waitTime, TimeUnit unit) throws InterruptedException;

    /**
     * As {@link #tryAcquire(long, TimeUnit)}, and the permit ends after {@code leaseTime}; -1: it does not.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it took nothing
     */
    String tryAcquire(long waitTime, long leaseTime, TimeUnit unit) throws InterruptedException;

    /**
     * Takes so many permits if they are available within {@code waitTime}, and returns their ids, which end after {@code leaseTime} (-1: they
     * do not); else an empty list.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it took nothing
     */
    List<String> tryAcquire(int permits, long waitTime, long leaseTime, TimeUnit unit) throws InterruptedException;

    /** Gives a permit back, and returns whether it was still out. */
    boolean tryRelease(String permitId);

    /** Gives permits back, all or none, and returns how many: none if one of them is not out any more. */
    int tryRelease(List<String> permitsIds);

    /**
     * Gives a permit back.
     *
     * @throws org.redisson.client.RedisException if it is not out any more; its cause, an {@link IllegalArgumentException}, says so
     */
    void release(String permitId);

    /**
     * Gives permits back, all or none.
     *
     * @throws org.redisson.client.RedisException if one of them is not out any more; its cause, an {@link IllegalArgumentException}, says so
     */
    void release(List<String> permitsIds);

    /** How many permits are available; 0 if they were never set. */
    int availablePermits();

    /** How many permits there are, available or out; 0 if they were never set. */
    int getPermits();

    /** How many permits are out. */
    int acquiredPermits();

    /** Sets the count of permits unless there is one, and returns whether it did. */
    boolean trySetPermits(int permits);

    /** Sets how many permits there are, those that are out among them; fewer than none may be available then. */
    void setPermits(int permits);

    /** Adds permits, or takes some away for good if it is negative. */
    void addPermits(int permits);

    /** Makes a permit last for {@code leaseTime} from now on (-1: without end), and returns whether it was still out. */
    boolean updateLeaseTime(String permitId, long leaseTime, TimeUnit unit);

    /**
     * How many ms a permit still lasts; -1: it has no end.
     *
     * @throws org.redisson.client.RedisException if it is not out any more; its cause, an {@link IllegalArgumentException}, says so
     */
    long getLeaseTime(String permitId);
}

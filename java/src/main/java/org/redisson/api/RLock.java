package org.redisson.api;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A reentrant lock that many processes share by its name. It is held by one thread of one client; that thread may acquire it
 * again, and must release it as often.
 *
 * <p>A hold with a lease ends by itself when the lease has passed. A hold without one is renewed as long as this process lives, and
 * ends {@code lockWatchdogTimeout} after its death. The lock is a promise among the threads that ask for it: it stops no work that goes on after
 * a hold was lost.
 *
 * <p>Times: a lease of 0 or less is renewed until release; a wait of 0 or less tries once; a wait of 100 years or more is for ever.
 * Every method but {@code getName} and {@code newCondition} asks the server and throws
 * {@link org.redisson.client.RedisConnectionException} or {@link org.redisson.client.RedisTimeoutException} if it does not answer,
 * other {@link org.redisson.client.RedisException}s if it refuses, {@link org.redisson.RedissonShutdownException} after
 * {@link RedissonClient#shutdown}, and {@link IllegalArgumentException} for a name that is empty or longer than 64 KiB and for a
 * lease of more than 100 years.
 */
public interface RLock extends Lock, RLockAsync, RObservable {
    /** The name by which the program asked for the lock. */
    String getName();

    /**
     * Acquires the lock with a renewed lease and waits as long as that takes. An interrupt does not end the wait; the thread is
     * interrupted again when the lock is held.
     */
    @Override
    void lock();

    /** As {@link #lock()}, for at most {@code leaseTime}. The time is a lease, not a wait. */
    void lock(long leaseTime, TimeUnit unit);

    /**
     * Acquires the lock with a renewed lease and waits as long as that takes.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it acquired nothing
     */
    @Override
    void lockInterruptibly() throws InterruptedException;

    /** As {@link #lockInterruptibly()}, for at most {@code leaseTime}. */
    void lockInterruptibly(long leaseTime, TimeUnit unit) throws InterruptedException;

    /** Tries once to acquire the lock, with a renewed lease. */
    @Override
    boolean tryLock();

    /**
     * Waits at most {@code waitTime} to acquire the lock, with a renewed lease.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; then it acquired nothing
     */
    @Override
    boolean tryLock(long waitTime, TimeUnit unit) throws InterruptedException;

    /** As {@link #tryLock(long, TimeUnit)}, for at most {@code leaseTime}. */
    boolean tryLock(long waitTime, long leaseTime, TimeUnit unit) throws InterruptedException;

    /**
     * Gives one hold of this thread back. With the last one the lock is free and a waiter is woken.
     *
     * @throws IllegalMonitorStateException if this thread does not hold the lock; with a cause
     *         {@link io.redlatch.LockLostException} if it did and lost it
     */
    @Override
    void unlock();

    /** Takes the lock away from its holder, with all holds. True if there was one. */
    boolean forceUnlock();

    /** Whether the lock has a holder. */
    boolean isLocked();

    /** Whether the thread of that id holds the lock through this client. */
    boolean isHeldByThread(long threadId);

    /** Whether the calling thread holds the lock. */
    boolean isHeldByCurrentThread();

    /** How many holds the calling thread has. */
    int getHoldCount();

    /** How long the present hold lasts unless it is renewed, in ms; −1 without an end, −2 of a free lock. */
    long remainTimeToLive();

    /** @throws UnsupportedOperationException always: there are no conditions across processes */
    @Override
    Condition newCondition();
}

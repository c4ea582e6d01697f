package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Request;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.Function;

/** The reentrant lock, and the blocking half of those that are like it. */
public class RedissonLock extends RedissonBaseLock {
    RedissonLock(Place place) {
        this(place, "plain");
    }

    /** @param kind the core's name of the kind */
    RedissonLock(Place place, String kind) {
        super(place, kind);
    }

    @Override
    public void lock() {
        run(acquireFor(Times.FOR_EVER, Times.RENEWED));
    }

    @Override
    public void lock(long leaseTime, TimeUnit unit) {
        run(acquireFor(Times.FOR_EVER, Times.toLease(leaseTime, unit)));
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        runInterruptibly(acquireFor(Times.FOR_EVER, Times.RENEWED));
    }

    @Override
    public void lockInterruptibly(long leaseTime, TimeUnit unit) throws InterruptedException {
        runInterruptibly(acquireFor(Times.FOR_EVER, Times.toLease(leaseTime, unit)));
    }

    @Override
    public boolean tryLock() {
        return run(acquireFor(Times.ONCE, Times.RENEWED)).done();
    }

    @Override
    public boolean tryLock(long waitTime, TimeUnit unit) throws InterruptedException {
        return runInterruptibly(acquireFor(Times.toWait(waitTime, unit), Times.RENEWED)).done();
    }

    @Override
    public boolean tryLock(long waitTime, long leaseTime, TimeUnit unit) throws InterruptedException {
        return runInterruptibly(acquireFor(Times.toWait(waitTime, unit), Times.toLease(leaseTime, unit))).done();
    }

    @Override
    public void unlock() {
        run(release(currentThread()));
    }

    @Override
    public boolean forceUnlock() {
        return tookAway(run(forceRelease()));
    }

    @Override
    public boolean isLocked() {
        return isTaken(run(inspect(currentThread())));
    }

    @Override
    public boolean isHeldByThread(long threadId) {
        return holds(run(inspect(threadId))) > 0;
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return isHeldByThread(currentThread());
    }

    @Override
    public int getHoldCount() {
        return holds(run(inspect(currentThread())));
    }

    @Override
    public long remainTimeToLive() {
        return run(inspect(currentThread())).number();
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException(
                "`" + getName() + "` has no conditions: they cannot be signalled across processes; use a lock of this process for them");
    }

    Request acquireFor(long wait, long lease) {
        return acquire(currentThread(), wait, lease);
    }

    Answer run(Request request) {
        return checked(core().run(request), currentThread());
    }

    /** As {@link #run(Request)}, with a result that needs memory. */
    <V> V run(Request acquire, Function<Answer, V> decode) {
        long threadId = currentThread();
        return core().run(acquire, answer -> decode.apply(checked(answer, threadId)));
    }

    Answer runInterruptibly(Request acquire) throws InterruptedException {
        return checked(core().runInterruptibly(acquire), currentThread());
    }
}

package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Request;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RFuture;
import org.redisson.api.RSemaphore;

/** Permits that any thread takes and gives back. */
public class RedissonSemaphore extends RedissonExpirable implements RSemaphore {
    RedissonSemaphore(Place place) {
        super(place, "semaphore");
    }

    @Override
    public void acquire() throws InterruptedException {
        acquire(1);
    }

    @Override
    public void acquire(int permits) throws InterruptedException {
        if (some(permits)) {
            runInterruptibly(waiting(Request.ACQUIRE, Times.FOR_EVER, permits));
        }
    }

    @Override
    public RFuture<Void> acquireAsync() {
        return acquireAsync(1);
    }

    @Override
    public RFuture<Void> acquireAsync(int permits) {
        return some(permits) ? submit(waiting(Request.ACQUIRE, Times.FOR_EVER, permits), answer -> null) : RedissonFuture.completed();
    }

    @Override
    public boolean tryAcquire() {
        return tryAcquire(1);
    }

    @Override
    public boolean tryAcquire(int permits) {
        return !some(permits) || run(ask(Request.ACQUIRE, permits)).done();
    }

    @Override
    public RFuture<Boolean> tryAcquireAsync() {
        return tryAcquireAsync(1);
    }

    @Override
    public RFuture<Boolean> tryAcquireAsync(int permits) {
        return tryAcquireAsync(permits, Duration.ZERO);
    }

    @Override
    public boolean tryAcquire(Duration waitTime) throws InterruptedException {
        return tryAcquire(1, waitTime);
    }

    @Override
    public boolean tryAcquire(int permits, Duration waitTime) throws InterruptedException {
        return tryAcquire(permits, Times.toNanos(waitTime), TimeUnit.NANOSECONDS);
    }

    @Override
    public RFuture<Boolean> tryAcquireAsync(Duration waitTime) {
        return tryAcquireAsync(1, waitTime);
    }

    @Override
    public RFuture<Boolean> tryAcquireAsync(int permits, Duration waitTime) {
        return tryAcquireAsync(permits, Times.toNanos(waitTime), TimeUnit.NANOSECONDS);
    }

    @Override
    @Deprecated
    public boolean tryAcquire(long waitTime, TimeUnit unit) throws InterruptedException {
        return tryAcquire(1, waitTime, unit);
    }

    @Override
    @Deprecated
    public boolean tryAcquire(int permits, long waitTime, TimeUnit unit) throws InterruptedException {
        return !some(permits) || runInterruptibly(waiting(Request.ACQUIRE, Times.toWait(waitTime, unit), permits)).done();
    }

    @Override
    @Deprecated
    public RFuture<Boolean> tryAcquireAsync(long waitTime, TimeUnit unit) {
        return tryAcquireAsync(1, waitTime, unit);
    }

    @Override
    @Deprecated
    public RFuture<Boolean> tryAcquireAsync(int permits, long waitTime, TimeUnit unit) {
        if (!some(permits)) {
            return RedissonFuture.completed(true);
        }
        return submit(waiting(Request.ACQUIRE, Times.toWait(waitTime, unit), permits), Answer::done);
    }

    @Override
    public void release() {
        release(1);
    }

    @Override
    public void release(int permits) {
        if (some(permits)) {
            run(ask(Request.RELEASE, permits));
        }
    }

    @Override
    public RFuture<Void> releaseAsync() {
        return releaseAsync(1);
    }

    @Override
    public RFuture<Void> releaseAsync(int permits) {
        return some(permits) ? submit(ask(Request.RELEASE, permits), answer -> null) : RedissonFuture.completed();
    }

    @Override
    public boolean releaseIfExists(int permits) {
        return some(permits) ? run(ask(Request.RELEASE_IF_EXISTS, permits)).done() : isExists();
    }

    @Override
    public RFuture<Boolean> releaseIfExistsAsync(int permits) {
        return some(permits) ? submit(ask(Request.RELEASE_IF_EXISTS, permits), Answer::done) : isExistsAsync();
    }

    @Override
    public int availablePermits() {
        return (int) run(ask(Request.INSPECT)).number();
    }

    @Override
    public RFuture<Integer> availablePermitsAsync() {
        return submit(ask(Request.INSPECT), answer -> (int) answer.number());
    }

    @Override
    public int drainPermits() {
        return (int) run(ask(Request.DRAIN)).number();
    }

    @Override
    public RFuture<Integer> drainPermitsAsync() {
        return submit(ask(Request.DRAIN), answer -> (int) answer.number());
    }

    @Override
    public boolean trySetPermits(int permits) {
        return isOne(run(ask(Request.TRY_SET, permits)));
    }

    @Override
    public RFuture<Boolean> trySetPermitsAsync(int permits) {
        return submit(ask(Request.TRY_SET, permits), RedissonObject::isOne);
    }

    @Override
    public boolean trySetPermits(int permits, Duration ttl) {
        return isOne(run(ask(Request.TRY_SET, permits, Times.toLive(ttl))));
    }

    @Override
    public RFuture<Boolean> trySetPermitsAsync(int permits, Duration ttl) {
        return submit(ask(Request.TRY_SET, permits, Times.toLive(ttl)), RedissonObject::isOne);
    }

    @Override
    public void addPermits(int permits) {
        run(ask(Request.ADD, permits));
    }

    @Override
    public RFuture<Void> addPermitsAsync(int permits) {
        return submit(ask(Request.ADD, permits), answer -> null);
    }

    /** False: the caller wants zero permits, which are always there. */
    static boolean some(int permits) {
        if (permits < 0) {
            throw new IllegalArgumentException("the number of permits is " + permits + "; give 0 or more");
        }
        return permits > 0;
    }
}

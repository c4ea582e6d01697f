package org.redisson;

import io.redlatch.internal.Answer;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RFencedLock;
import org.redisson.api.RFuture;

/** The reentrant lock that numbers its holds. */
public class RedissonFencedLock extends RedissonLock implements RFencedLock {
    RedissonFencedLock(Place place) {
        this(place, "fenced");
    }

    /** @param kind the core's name of the kind */
    RedissonFencedLock(Place place, String kind) {
        super(place, kind);
    }

    @Override
    public Long getToken() {
        return run(inspect(currentThread())).item(1);
    }

    @Override
    public RFuture<Long> getTokenAsync() {
        return submit(inspect(currentThread()), currentThread(), answer -> answer.item(1));
    }

    @Override
    public Long lockAndGetToken() {
        return take(Times.FOR_EVER, Times.RENEWED);
    }

    @Override
    public RFuture<Long> lockAndGetTokenAsync() {
        return takeAsync(Times.FOR_EVER, Times.RENEWED);
    }

    @Override
    public Long lockAndGetToken(long leaseTime, TimeUnit unit) {
        return take(Times.FOR_EVER, Times.toLease(leaseTime, unit));
    }

    @Override
    public RFuture<Long> lockAndGetTokenAsync(long leaseTime, TimeUnit unit) {
        return takeAsync(Times.FOR_EVER, Times.toLease(leaseTime, unit));
    }

    @Override
    public Long tryLockAndGetToken() {
        return take(Times.ONCE, Times.RENEWED);
    }

    @Override
    public RFuture<Long> tryLockAndGetTokenAsync() {
        return takeAsync(Times.ONCE, Times.RENEWED);
    }

    @Override
    public Long tryLockAndGetToken(long waitTime, TimeUnit unit) {
        return take(Times.toWait(waitTime, unit), Times.RENEWED);
    }

    @Override
    public RFuture<Long> tryLockAndGetTokenAsync(long waitTime, TimeUnit unit) {
        return takeAsync(Times.toWait(waitTime, unit), Times.RENEWED);
    }

    @Override
    public Long tryLockAndGetToken(long waitTime, long leaseTime, TimeUnit unit) {
        return take(Times.toWait(waitTime, unit), Times.toLease(leaseTime, unit));
    }

    @Override
    public RFuture<Long> tryLockAndGetTokenAsync(long waitTime, long leaseTime, TimeUnit unit) {
        return takeAsync(Times.toWait(waitTime, unit), Times.toLease(leaseTime, unit));
    }

    private Long take(long wait, long lease) {
        return run(acquireFor(wait, lease), RedissonFencedLock::token);
    }

    private RFuture<Long> takeAsync(long wait, long lease) {
        return submit(acquireFor(wait, lease), currentThread(), RedissonFencedLock::token);
    }

    private static Long token(Answer answer) {
        return answer.done() ? Long.valueOf(answer.item(0)) : null;
    }
}

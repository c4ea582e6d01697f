package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Request;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFuture;

/** A count that threads wait for to become zero. */
public class RedissonCountDownLatch extends RedissonObject implements RCountDownLatch {
    RedissonCountDownLatch(Place place) {
        super(place, "latch");
    }

    @Override
    public void await() throws InterruptedException {
        runInterruptibly(waiting(Request.ACQUIRE, Times.FOR_EVER));
    }

    @Override
    public RFuture<Void> awaitAsync() {
        return submit(waiting(Request.ACQUIRE, Times.FOR_EVER), answer -> null);
    }

    @Override
    public boolean await(long waitTime, TimeUnit unit) throws InterruptedException {
        return runInterruptibly(waiting(Request.ACQUIRE, Times.toWait(waitTime, unit))).done();
    }

    @Override
    public RFuture<Boolean> awaitAsync(long waitTime, TimeUnit unit) {
        return submit(waiting(Request.ACQUIRE, Times.toWait(waitTime, unit)), Answer::done);
    }

    @Override
    public void countDown() {
        run(ask(Request.COUNT_DOWN));
    }

    @Override
    public RFuture<Void> countDownAsync() {
        return submit(ask(Request.COUNT_DOWN), answer -> null);
    }

    @Override
    public long getCount() {
        return run(ask(Request.INSPECT)).number();
    }

    @Override
    public RFuture<Long> getCountAsync() {
        return submit(ask(Request.INSPECT), Answer::number);
    }

    @Override
    public boolean trySetCount(long count) {
        return isOne(run(ask(Request.TRY_SET, count)));
    }

    @Override
    public RFuture<Boolean> trySetCountAsync(long count) {
        return submit(ask(Request.TRY_SET, count), RedissonObject::isOne);
    }
}

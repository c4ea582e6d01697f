package org.redisson.api;

import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Single;
import java.util.concurrent.TimeUnit;

/** A count that opens a door at zero, for RxJava: the methods of {@link RCountDownLatchAsync}, each carried out once per subscription. */
public interface RCountDownLatchRx extends RObjectRx {
    /** As {@link RCountDownLatchAsync#awaitAsync()}. */
    Completable await();

    /** As {@link RCountDownLatchAsync#awaitAsync(long, TimeUnit)}. */
    Single<Boolean> await(long waitTime, TimeUnit unit);

    /** As {@link RCountDownLatchAsync#countDownAsync()}. */
    Completable countDown();

    /** As {@link RCountDownLatchAsync#getCountAsync()}. */
    Single<Long> getCount();

    /** As {@link RCountDownLatchAsync#trySetCountAsync(long)}. */
    Single<Boolean> trySetCount(long count);
}

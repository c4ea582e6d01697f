package org.redisson.api;

import io.reactivex.rxjava3.core.Single;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.concurrent.TimeUnit;

/** Objects whose key may end, for RxJava: the methods of {@link RExpirableAsync}, each carried out once per subscription. */
public interface RExpirableRx extends RObjectRx {
    /** @deprecated as {@link RExpirableAsync#expireAsync(long, TimeUnit)} */
    @Deprecated
    Single<Boolean> expire(long timeToLive, TimeUnit timeUnit);

    /** @deprecated as {@link RExpirableAsync#expireAtAsync(Date)} */
    @Deprecated
    Single<Boolean> expireAt(Date timestamp);

    /** @deprecated as {@link RExpirableAsync#expireAtAsync(long)} */
    @Deprecated
    Single<Boolean> expireAt(long timestamp);

    /** As {@link RExpirableAsync#expireAsync(Instant)}. */
    Single<Boolean> expire(Instant instant);

    /** As {@link RExpirableAsync#expireIfSetAsync(Instant)}. */
    Single<Boolean> expireIfSet(Instant time);

    /** As {@link RExpirableAsync#expireIfNotSetAsync(Instant)}. */
    Single<Boolean> expireIfNotSet(Instant time);

    /** As {@link RExpirableAsync#expireIfGreaterAsync(Instant)}. */
    Single<Boolean> expireIfGreater(Instant time);

    /** As {@link RExpirableAsync#expireIfLessAsync(Instant)}. */
    Single<Boolean> expireIfLess(Instant time);

    /** As {@link RExpirableAsync#expireAsync(Duration)}. */
    Single<Boolean> expire(Duration duration);

    /** As {@link RExpirableAsync#expireIfSetAsync(Duration)}. */
    Single<Boolean> expireIfSet(Duration duration);

    /** As {@link RExpirableAsync#expireIfNotSetAsync(Duration)}. */
    Single<Boolean> expireIfNotSet(Duration duration);

    /** As {@link RExpirableAsync#expireIfGreaterAsync(Duration)}. */
    Single<Boolean> expireIfGreater(Duration duration);

    /** As {@link RExpirableAsync#expireIfLessAsync(Duration)}. */
    Single<Boolean> expireIfLess(Duration duration);

    /** As {@link RExpirableAsync#clearExpireAsync()}. */
    Single<Boolean> clearExpire();

    /** As {@link RExpirableAsync#remainTimeToLiveAsync()}. */
    Single<Long> remainTimeToLive();

    /** As {@link RExpirableAsync#getExpireTimeAsync()}. */
    Single<Long> getExpireTime();
}

package org.redisson.api;

import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.concurrent.TimeUnit;

/** The asynchronous half of {@link RExpirable}. */
public interface RExpirableAsync extends RObjectAsync {
    /** As {@link RExpirable#expire(Duration)}. */
    RFuture<Boolean> expireAsync(Duration duration);

    /** As {@link RExpirable#expire(Instant)}. */
    RFuture<Boolean> expireAsync(Instant time);

    /** As {@link RExpirable#expireIfSet(Duration)}. */
    RFuture<Boolean> expireIfSetAsync(Duration duration);

    /** As {@link RExpirable#expireIfSet(Instant)}. */
    RFuture<Boolean> expireIfSetAsync(Instant time);

    /** As {@link RExpirable#expireIfNotSet(Duration)}. */
    RFuture<Boolean> expireIfNotSetAsync(Duration duration);

    /** As {@link RExpirable#expireIfNotSet(Instant)}. */
    RFuture<Boolean> expireIfNotSetAsync(Instant time);

    /** As {@link RExpirable#expireIfGreater(Duration)}. */
    RFuture<Boolean> expireIfGreaterAsync(Duration duration);

    /** As {@link RExpirable#expireIfGreater(Instant)}. */
    RFuture<Boolean> expireIfGreaterAsync(Instant time);

    /** As {@link RExpirable#expireIfLess(Duration)}. */
    RFuture<Boolean> expireIfLessAsync(Duration duration);

    /** As {@link RExpirable#expireIfLess(Instant)}. */
    RFuture<Boolean> expireIfLessAsync(Instant time);

    /** @deprecated use {@link #expireAsync(Duration)} */
    @Deprecated
    RFuture<Boolean> expireAsync(long timeToLive, TimeUnit timeUnit);

    /** @deprecated use {@link #expireAsync(Instant)} */
    @Deprecated
    RFuture<Boolean> expireAtAsync(Date timestamp);

    /** @deprecated use {@link #expireAsync(Instant)}; in ms since 1970 */
    @Deprecated
    RFuture<Boolean> expireAtAsync(long timestamp);

    /** As {@link RExpirable#clearExpire()}. */
    RFuture<Boolean> clearExpireAsync();

    /** As {@link RExpirable#remainTimeToLive()}. */
    RFuture<Long> remainTimeToLiveAsync();

    /** As {@link RExpirable#getExpireTime()}. */
    RFuture<Long> getExpireTimeAsync();
}

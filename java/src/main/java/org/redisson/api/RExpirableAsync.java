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
}

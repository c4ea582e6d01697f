package org.redisson.api;

import java.time.Duration;
import java.time.Instant;

/** The asynchronous half of {@link RExpirable}. */
public interface RExpirableAsync extends RObjectAsync {
    /** As {@link RExpirable#expire(Duration)}. */
    RFuture<Boolean> expireAsync(Duration duration);

    /** As {@link RExpirable#expire(Instant)}. */
    RFuture<Boolean> expireAsync(Instant time);

    /** As {@link RExpirable#clearExpire()}. */
    RFuture<Boolean> clearExpireAsync();

    /** As {@link RExpirable#remainTimeToLive()}. */
    RFuture<Long> remainTimeToLiveAsync();
}

package org.redisson.api;

import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/** Objects whose key may end, for Reactor: the methods of {@link RExpirableAsync}, each carried out once per subscription. */
public interface RExpirableReactive extends RObjectReactive {
    /** @deprecated as {@link RExpirableAsync#expireAsync(long, TimeUnit)} */
    @Deprecated
    Mono<Boolean> expire(long timeToLive, TimeUnit timeUnit);

    /** @deprecated as {@link RExpirableAsync#expireAtAsync(Date)} */
    @Deprecated
    Mono<Boolean> expireAt(Date timestamp);

    /** @deprecated as {@link RExpirableAsync#expireAtAsync(long)} */
    @Deprecated
    Mono<Boolean> expireAt(long timestamp);

    /** As {@link RExpirableAsync#expireAsync(Instant)}. */
    Mono<Boolean> expire(Instant instant);

    /** As {@link RExpirableAsync#expireIfSetAsync(Instant)}. */
    Mono<Boolean> expireIfSet(Instant time);

    /** As {@link RExpirableAsync#expireIfNotSetAsync(Instant)}. */
    Mono<Boolean> expireIfNotSet(Instant time);

    /** As {@link RExpirableAsync#expireIfGreaterAsync(Instant)}. */
    Mono<Boolean> expireIfGreater(Instant time);

    /** As {@link RExpirableAsync#expireIfLessAsync(Instant)}. */
    Mono<Boolean> expireIfLess(Instant time);

    /** As {@link RExpirableAsync#expireAsync(Duration)}. */
    Mono<Boolean> expire(Duration duration);

    /** As {@link RExpirableAsync#expireIfSetAsync(Duration)}. */
    Mono<Boolean> expireIfSet(Duration duration);

    /** As {@link RExpirableAsync#expireIfNotSetAsync(Duration)}. */
    Mono<Boolean> expireIfNotSet(Duration duration);

    /** As {@link RExpirableAsync#expireIfGreaterAsync(Duration)}. */
    Mono<Boolean> expireIfGreater(Duration duration);

    /** As {@link RExpirableAsync#expireIfLessAsync(Duration)}. */
    Mono<Boolean> expireIfLess(Duration duration);

    /** As {@link RExpirableAsync#clearExpireAsync()}. */
    Mono<Boolean> clearExpire();

    /** As {@link RExpirableAsync#remainTimeToLiveAsync()}. */
    Mono<Long> remainTimeToLive();

    /** As {@link RExpirableAsync#getExpireTimeAsync()}. */
    Mono<Long> getExpireTime();
}

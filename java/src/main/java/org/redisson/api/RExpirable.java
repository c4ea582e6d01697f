package org.redisson.api;

import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.concurrent.TimeUnit;

/** An object that may have an end. A time that is over ends it at once. */
public interface RExpirable extends RObject, RExpirableAsync {
    /** Lets the object expire after that time. False if there is no such object. */
    boolean expire(Duration duration);

    /** Lets the object expire at that time. False if there is no such object. */
    boolean expire(Instant time);

    /** As {@link #expire(Duration)}, if it has an end already. */
    boolean expireIfSet(Duration duration);

    /** As {@link #expire(Instant)}, if it has an end already. */
    boolean expireIfSet(Instant time);

    /** As {@link #expire(Duration)}, if it has no end. */
    boolean expireIfNotSet(Duration duration);

    /** As {@link #expire(Instant)}, if it has no end. */
    boolean expireIfNotSet(Instant time);

    /** As {@link #expire(Duration)}, if it has an earlier end. */
    boolean expireIfGreater(Duration duration);

    /** As {@link #expire(Instant)}, if it has an earlier end. */
    boolean expireIfGreater(Instant time);

    /** As {@link #expire(Duration)}, if it has a later end or none. */
    boolean expireIfLess(Duration duration);

    /** As {@link #expire(Instant)}, if it has a later end or none. */
    boolean expireIfLess(Instant time);

    /** @deprecated use {@link #expire(Duration)} */
    @Deprecated
    boolean expire(long timeToLive, TimeUnit timeUnit);

    /** @deprecated use {@link #expire(Instant)} */
    @Deprecated
    boolean expireAt(Date timestamp);

    /** @deprecated use {@link #expire(Instant)}; in ms since 1970 */
    @Deprecated
    boolean expireAt(long timestamp);

    /** Takes the object's end away. False if there is no such object, or it had no end. */
    boolean clearExpire();

    /** How many ms the object has left; −1 without an end, −2 if there is no such object. */
    long remainTimeToLive();

    /** When the object expires in ms since 1970; −1 without an end, −2 if there is no such object. */
    long getExpireTime();
}

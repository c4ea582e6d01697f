package org.redisson.api;

import java.time.Duration;
import java.time.Instant;

/** What may have an end. */
public interface RExpirable extends RObject, RExpirableAsync {
    /** Has it expire after that time. False if it is not there. */
    boolean expire(Duration duration);

    /** Has it expire at that time. False if it is not there. */
    boolean expire(Instant time);

    /** Has it never expire. False if it is not there, or had no end. */
    boolean clearExpire();

    /** How many ms it has left; −1 without an end, −2 if it is not there. */
    long remainTimeToLive();
}

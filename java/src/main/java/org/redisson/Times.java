package org.redisson;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** Waits and leases of the public methods as the core takes them: ms, rounded up, so that a short time is not none at all. */
final class Times {
    static final long FOR_EVER = -1;
    static final long ONCE = 0;
    static final long RENEWED = 0;

    private static final long CENTURY_MS = TimeUnit.DAYS.toMillis(100 * 365);
    private static final Duration CENTURY = Duration.ofMillis(CENTURY_MS);

    private Times() {}

    /** 0 or less tries once; a hundred years or more is for ever. */
    static long toWait(long time, TimeUnit unit) {
        long ms = roundUp(time, unit);
        return ms >= CENTURY_MS ? FOR_EVER : ms;
    }

    /** 0 or less is renewed until release. */
    static long toLease(long time, TimeUnit unit) {
        return roundUp(time, unit);
    }

    /** At least one ms, at most a hundred years: the server refuses more. */
    static long toLive(Duration duration) {
        return Math.max(1, ms(duration));
    }

    /** 0 or less as it is, at most a hundred years. */
    static long toLive(long time, TimeUnit unit) {
        return Math.min(roundUp(time, unit), CENTURY_MS);
    }

    /** As {@link #at(Instant)}, of ms since 1970. */
    static long at(long timestamp) {
        return at(Instant.ofEpochMilli(timestamp));
    }

    /** In ms since 1970, after that and at most a hundred years from now. */
    static long at(Instant time) {
        long now = System.currentTimeMillis();
        return Math.max(1, now + ms(Duration.between(Instant.ofEpochMilli(now), time)));
    }

    /** The time in ms, at most a hundred years in either direction. */
    static long ms(Duration duration) {
        if (duration.compareTo(CENTURY) >= 0) {
            return CENTURY_MS;
        }
        if (duration.compareTo(CENTURY.negated()) <= 0) {
            return -CENTURY_MS;
        }
        return duration.toMillis();
    }

    /** The time in ns, at most the largest number. */
    static long toNanos(Duration duration) {
        if (duration.compareTo(Duration.ofNanos(Long.MAX_VALUE)) >= 0) {
            return Long.MAX_VALUE;
        }
        return duration.isNegative() ? 0 : duration.toNanos();
    }

    private static long roundUp(long time, TimeUnit unit) {
        long ms = unit.toMillis(time); // saturates
        if (time <= 0) {
            return 0;
        }
        return unit.convert(ms, TimeUnit.MILLISECONDS) < time && ms < Long.MAX_VALUE ? ms + 1 : ms;
    }
}

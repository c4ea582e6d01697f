package org.redisson.config;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** The base of delays that double with every attempt: their start and their end. */
abstract class ExponentialDelay implements DelayStrategy {
    private static final int MOST_DOUBLINGS = 30;
    private static final Duration LONGEST = Duration.ofDays(365);

    private final Duration baseDelay;
    private final Duration maxDelay;

    ExponentialDelay(Duration baseDelay, Duration maxDelay) {
        this.baseDelay = baseDelay;
        this.maxDelay = maxDelay;
    }

    /** The delay that the first attempt starts from. */
    public Duration getBaseDelay() {
        return baseDelay;
    }

    /** The longest delay. */
    public Duration getMaxDelay() {
        return maxDelay;
    }

    /** The base doubled {@code attempt} times, at most the maximum, in ms. */
    long ceiling(int attempt) {
        double doubled = ms(baseDelay) * Math.pow(2, Math.min(attempt, MOST_DOUBLINGS));
        return (long) Math.min(doubled, ms(maxDelay));
    }

    /** At most a year. */
    static long ms(Duration delay) {
        return delay.compareTo(LONGEST) > 0 ? LONGEST.toMillis() : delay.toMillis();
    }

    static Duration between(long leastMs, long mostMs) {
        return Duration.ofMillis(ThreadLocalRandom.current().nextLong(leastMs, Math.max(leastMs, mostMs) + 1));
    }
}

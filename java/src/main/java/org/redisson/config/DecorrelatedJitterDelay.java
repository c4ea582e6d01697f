package org.redisson.config;

import java.time.Duration;

/** A random delay from a minimum to three times the one before. */
public class DecorrelatedJitterDelay implements DelayStrategy {
    private final Duration minDelay;
    private final Duration maxDelay;
    private volatile long lastMs;

    /**
     * @param minDelay the shortest, and the first to be tripled
     * @param maxDelay the longest
     */
    public DecorrelatedJitterDelay(Duration minDelay, Duration maxDelay) {
        this.minDelay = minDelay;
        this.maxDelay = maxDelay;
        this.lastMs = ExponentialDelay.ms(minDelay);
    }

    /** The shortest delay. */
    public Duration getMinDelay() {
        return minDelay;
    }

    /** The longest delay. */
    public Duration getMaxDelay() {
        return maxDelay;
    }

    @Override
    public Duration calcDelay(int attempt) {
        Duration delay = ExponentialDelay.between(ExponentialDelay.ms(minDelay), Math.min(ExponentialDelay.ms(maxDelay), 3 * lastMs));
        lastMs = delay.toMillis();
        return delay;
    }
}

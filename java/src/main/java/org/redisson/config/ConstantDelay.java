package org.redisson.config;

import java.time.Duration;

/** The same delay before every attempt. */
public class ConstantDelay implements DelayStrategy {
    private final Duration delay;

    /** @param delay before every attempt */
    public ConstantDelay(Duration delay) {
        this.delay = delay;
    }

    /** The delay before every attempt. */
    public Duration getDelay() {
        return delay;
    }

    @Override
    public Duration calcDelay(int attempt) {
        return delay;
    }
}

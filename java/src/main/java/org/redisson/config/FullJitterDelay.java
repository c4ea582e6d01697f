package org.redisson.config;

import java.time.Duration;

/** A random delay from nothing to a limit that doubles with every attempt. */
public class FullJitterDelay extends ExponentialDelay {
    /**
     * @param baseDelay the limit of the first
     * @param maxDelay the highest limit
     */
    public FullJitterDelay(Duration baseDelay, Duration maxDelay) {
        super(baseDelay, maxDelay);
    }

    @Override
    public Duration calcDelay(int attempt) {
        return between(0, ceiling(attempt));
    }
}

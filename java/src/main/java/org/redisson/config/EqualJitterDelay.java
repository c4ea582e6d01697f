package org.redisson.config;

import java.time.Duration;

/** A random delay from half a limit to all of it; the limit doubles with every attempt. */
public class EqualJitterDelay extends ExponentialDelay {
    /**
     * @param baseDelay the limit of the first
     * @param maxDelay the highest limit
     */
    public EqualJitterDelay(Duration baseDelay, Duration maxDelay) {
        super(baseDelay, maxDelay);
    }

    @Override
    public Duration calcDelay(int attempt) {
        long most = ceiling(attempt);
        return between(most / 2, most);
    }
}

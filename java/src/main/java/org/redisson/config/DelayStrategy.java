package org.redisson.config;

import java.time.Duration;

/** How long to wait before each further attempt. */
public interface DelayStrategy {
    /** The delay before the attempt that follows {@code attempt}; the first has number 0. */
    Duration calcDelay(int attempt);
}

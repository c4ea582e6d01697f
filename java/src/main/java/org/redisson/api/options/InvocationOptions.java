package org.redisson.api.options;

import java.time.Duration;
import org.redisson.config.DelayStrategy;

/**
 * How long the calls of one object are tried. A value that is not set is that of the client's configuration.
 *
 * @param <T> the options themselves, for chaining
 */
public interface InvocationOptions<T extends InvocationOptions<T>> {
    /** How long one call may stay unanswered; 1 ms at least. */
    T timeout(Duration timeout);

    /**
     * How many further attempts a call gets while the server cannot be reached or does not answer. Together with {@link #retryDelay}
     * this sets a time: retries begin for as long as the delays add up to.
     *
     * @throws IllegalArgumentException if it is negative or {@code Integer.MAX_VALUE}
     */
    T retryAttempts(int retryAttempts);

    /**
     * A constant delay between attempts.
     *
     * @deprecated use {@link #retryDelay}
     */
    @Deprecated
    T retryInterval(Duration retryInterval);

    /** The delays between attempts. */
    T retryDelay(DelayStrategy retryDelay);
}

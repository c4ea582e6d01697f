package org.redisson.api.options;

import java.time.Duration;
import java.util.Objects;
import org.redisson.config.ConstantDelay;
import org.redisson.config.DelayStrategy;

/** The values of {@link CommonOptions}. */
public final class CommonParams implements CommonOptions {
    private static final Duration LONGEST = Duration.ofMillis(Integer.MAX_VALUE);

    private final String name;
    private Duration timeout;
    private Integer retryAttempts;
    private DelayStrategy retryDelay;

    CommonParams(String name) {
        this.name = Objects.requireNonNull(name, "the name of a lock is null; give a text");
    }

    @Override
    public CommonOptions timeout(Duration timeout) {
        if (timeout.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException("the timeout of `" + name + "` is " + timeout + ", it must be 1 ms at least");
        }
        this.timeout = timeout;
        return this;
    }

    @Override
    public CommonOptions retryAttempts(int retryAttempts) {
        if (retryAttempts < 0 || retryAttempts == Integer.MAX_VALUE) {
            throw new IllegalArgumentException("the retryAttempts of `" + name + "` are " + retryAttempts + ", they must be from 0 to "
                    + (Integer.MAX_VALUE - 1));
        }
        this.retryAttempts = retryAttempts;
        return this;
    }

    @Override
    @Deprecated
    public CommonOptions retryInterval(Duration retryInterval) {
        return retryDelay(new ConstantDelay(retryInterval));
    }

    @Override
    public CommonOptions retryDelay(DelayStrategy retryDelay) {
        this.retryDelay = Objects.requireNonNull(retryDelay, "retryDelay is null; give one, as new ConstantDelay(…)");
        return this;
    }

    /** The object's name. */
    public String getName() {
        return name;
    }

    /** How long one call may stay unanswered, in ms; 0 if it is not set. */
    public int getTimeout() {
        return timeout == null ? 0 : timeout.compareTo(LONGEST) > 0 ? Integer.MAX_VALUE : (int) timeout.toMillis();
    }

    /** How many further attempts a call gets; −1 if it is not set. */
    public int getRetryAttempts() {
        return retryAttempts == null ? -1 : retryAttempts;
    }

    /** The delays between attempts, or null if they are not set. */
    public DelayStrategy getRetryDelay() {
        return retryDelay;
    }
}

package org.redisson.api.options;

import java.time.Duration;
import org.redisson.config.DelayStrategy;

/** The values of {@link KeysOptions}. */
public final class KeysParams implements KeysOptions {
    private final CommonParams values = new CommonParams("getKeys()");

    KeysParams() {}

    @Override
    public KeysOptions timeout(Duration timeout) {
        values.timeout(timeout);
        return this;
    }

    @Override
    public KeysOptions retryAttempts(int retryAttempts) {
        values.retryAttempts(retryAttempts);
        return this;
    }

    @Override
    @Deprecated
    public KeysOptions retryInterval(Duration retryInterval) {
        values.retryInterval(retryInterval);
        return this;
    }

    @Override
    public KeysOptions retryDelay(DelayStrategy retryDelay) {
        values.retryDelay(retryDelay);
        return this;
    }

    /** As {@link CommonParams#getTimeout()}. */
    public int getTimeout() {
        return values.getTimeout();
    }

    /** As {@link CommonParams#getRetryAttempts()}. */
    public int getRetryAttempts() {
        return values.getRetryAttempts();
    }

    /** As {@link CommonParams#getRetryDelay()}. */
    public DelayStrategy getRetryDelay() {
        return values.getRetryDelay();
    }
}

package org.redisson.config;

import java.time.Duration;
import java.util.Objects;

/**
 * The settings that every way of reaching servers has.
 *
 * @param <T> the configuration itself, for chaining
 */
public abstract class BaseConfig<T extends BaseConfig<T>> extends MovedSettings<T> {
    private static final DelayStrategy RETRY = new EqualJitterDelay(Duration.ofSeconds(1), Duration.ofSeconds(2));
    private static final DelayStrategy RECONNECTION = new EqualJitterDelay(Duration.ofMillis(100), Duration.ofSeconds(10));

    BaseConfig() {}

    BaseConfig(BaseConfig<T> other) {
        kept.putAll(other.kept);
    }

    /** A copy with the same settings. */
    abstract T copy();

    /** The name of this way. */
    abstract String mode();

    /** How long one call may stay unanswered, in ms; 3000 by default. */
    public T setTimeout(int timeout) {
        kept.put("timeout", timeout);
        return self();
    }

    /** The value that was set. */
    public int getTimeout() {
        return kept.get("timeout", 3000);
    }

    /** How long connecting may take, in ms; 10000 by default. */
    public T setConnectTimeout(int connectTimeout) {
        kept.put("connectTimeout", connectTimeout);
        return self();
    }

    /** The value that was set. */
    public int getConnectTimeout() {
        return kept.get("connectTimeout", 10000);
    }

    /**
     * How many further attempts a call gets while the server cannot be reached or does not answer; 4 by default. Together with
     * {@link #setRetryDelay} this sets a time: retries go on for as long as the delays add up to.
     *
     * @throws IllegalArgumentException if it is negative or {@code Integer.MAX_VALUE}
     */
    public T setRetryAttempts(int retryAttempts) {
        if (retryAttempts < 0 || retryAttempts == Integer.MAX_VALUE) {
            throw new IllegalArgumentException("retryAttempts is " + retryAttempts + ", it must be from 0 to " + (Integer.MAX_VALUE - 1));
        }
        kept.put("retryAttempts", retryAttempts);
        return self();
    }

    /** How many further attempts a call gets. */
    public int getRetryAttempts() {
        return kept.get("retryAttempts", 4);
    }

    /** The delays between attempts; {@link EqualJitterDelay} from 1 to 2 seconds by default. */
    public T setRetryDelay(DelayStrategy retryDelay) {
        kept.put("retryDelay", Objects.requireNonNull(retryDelay, "retryDelay is null; give one, as new ConstantDelay(…)"));
        return self();
    }

    /** The delays between attempts. */
    public DelayStrategy getRetryDelay() {
        return kept.get("retryDelay", RETRY);
    }

    /**
     * A constant delay between attempts, in ms.
     *
     * @deprecated use {@link #setRetryDelay}
     */
    @Deprecated
    public T setRetryInterval(int retryInterval) {
        kept.put("retryInterval", retryInterval);
        return setRetryDelay(new ConstantDelay(Duration.ofMillis(retryInterval)));
    }

    /**
     * The value that was set, or 1500.
     *
     * @deprecated use {@link #getRetryDelay}
     */
    @Deprecated
    public int getRetryInterval() {
        return kept.get("retryInterval", 1500);
    }

    /** The name of the connections in the server's {@code CLIENT LIST}; none by default. */
    public T setClientName(String clientName) {
        kept.put("clientName", clientName);
        return self();
    }

    /** The value that was set. */
    public String getClientName() {
        return kept.get("clientName", null);
    }

    /**
     * Without meaning here: a connection is opened anew by the first call that needs it; default {@link EqualJitterDelay} from 100 ms to
     * Always 10 s.
     */
    public T setReconnectionDelay(DelayStrategy reconnectionDelay) {
        kept.idle("reconnectionDelay", reconnectionDelay);
        return self();
    }

    /** The value that was set. */
    public DelayStrategy getReconnectionDelay() {
        return kept.get("reconnectionDelay", RECONNECTION);
    }

    /** Without meaning here: connections are shared and opened at need; default 7500. */
    public T setSubscriptionTimeout(int subscriptionTimeout) {
        kept.idle("subscriptionTimeout", subscriptionTimeout);
        return self();
    }

    /** The value that was set. */
    public int getSubscriptionTimeout() {
        return kept.get("subscriptionTimeout", 7500);
    }

    /** Without meaning here: connections are shared and opened at need; default 5. */
    public T setSubscriptionsPerConnection(int subscriptionsPerConnection) {
        kept.idle("subscriptionsPerConnection", subscriptionsPerConnection);
        return self();
    }

    /** The value that was set. */
    public int getSubscriptionsPerConnection() {
        return kept.get("subscriptionsPerConnection", 5);
    }

    /** Without meaning here: connections are shared and opened at need; default 10000. */
    public T setIdleConnectionTimeout(int idleConnectionTimeout) {
        kept.idle("idleConnectionTimeout", idleConnectionTimeout);
        return self();
    }

    /** The value that was set. */
    public int getIdleConnectionTimeout() {
        return kept.get("idleConnectionTimeout", 10000);
    }

    /** Without meaning here: connections are shared and opened at need; default 30000. */
    public T setPingConnectionInterval(int pingConnectionInterval) {
        kept.idle("pingConnectionInterval", pingConnectionInterval);
        return self();
    }

    /** The value that was set. */
    public int getPingConnectionInterval() {
        return kept.get("pingConnectionInterval", 30000);
    }
}

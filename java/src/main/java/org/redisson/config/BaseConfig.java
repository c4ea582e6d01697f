package org.redisson.config;

import java.time.Duration;

/**
 * What every way of reaching servers has in common.
 *
 * @param <T> the configuration itself, for chaining
 */
public abstract class BaseConfig<T extends BaseConfig<T>> {
    private int timeout = 3000;
    private int connectTimeout = 10000;
    private int retryAttempts = 4;
    private DelayStrategy retryDelay = new EqualJitterDelay(Duration.ofSeconds(1), Duration.ofSeconds(2));
    private String clientName;
    private String username;
    private String password;
    private int subscriptionTimeout = 7500;
    private int subscriptionsPerConnection = 5;
    private int idleConnectionTimeout = 10000;
    private int pingConnectionInterval = 30000;

    BaseConfig() {}

    BaseConfig(BaseConfig<T> other) {
        timeout = other.timeout;
        connectTimeout = other.connectTimeout;
        retryAttempts = other.retryAttempts;
        retryDelay = other.retryDelay;
        clientName = other.clientName;
        username = other.username;
        password = other.password;
        subscriptionTimeout = other.subscriptionTimeout;
        subscriptionsPerConnection = other.subscriptionsPerConnection;
        idleConnectionTimeout = other.idleConnectionTimeout;
        pingConnectionInterval = other.pingConnectionInterval;
    }

    abstract T self();

    /** How long one call may stay unanswered, in ms; 3000 by default. */
    public T setTimeout(int timeout) {
        this.timeout = timeout;
        return self();
    }

    /** How long one call may stay unanswered, in ms. */
    public int getTimeout() {
        return timeout;
    }

    /** How long connecting may take, in ms; 10000 by default. */
    public T setConnectTimeout(int connectTimeout) {
        this.connectTimeout = connectTimeout;
        return self();
    }

    /** How long connecting may take, in ms. */
    public int getConnectTimeout() {
        return connectTimeout;
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
        this.retryAttempts = retryAttempts;
        return self();
    }

    /** How many further attempts a call gets. */
    public int getRetryAttempts() {
        return retryAttempts;
    }

    /** The delays between attempts; {@link EqualJitterDelay} from 1 to 2 seconds by default. */
    public T setRetryDelay(DelayStrategy retryDelay) {
        this.retryDelay = retryDelay;
        return self();
    }

    /** The delays between attempts. */
    public DelayStrategy getRetryDelay() {
        return retryDelay;
    }

    /**
     * A constant delay between attempts, in ms.
     *
     * @deprecated use {@link #setRetryDelay}
     */
    @Deprecated
    public T setRetryInterval(int retryInterval) {
        return setRetryDelay(new ConstantDelay(Duration.ofMillis(retryInterval)));
    }

    /** The name of the connections in the server's {@code CLIENT LIST}; none by default. */
    public T setClientName(String clientName) {
        this.clientName = clientName;
        return self();
    }

    /** The name of the connections, or null. */
    public String getClientName() {
        return clientName;
    }

    /**
     * The user to log in as.
     *
     * @deprecated use {@link Config#setUsername}
     */
    @Deprecated
    public T setUsername(String username) {
        this.username = username;
        return self();
    }

    /**
     * The user to log in as, or null.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public String getUsername() {
        return username;
    }

    /**
     * The password to log in with.
     *
     * @deprecated use {@link Config#setPassword}
     */
    @Deprecated
    public T setPassword(String password) {
        this.password = password;
        return self();
    }

    /**
     * The password to log in with, or null.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public String getPassword() {
        return password;
    }

    /** Without meaning here: connections are shared and opened at need. Kept so that configurations compile; default 7500. */
    public T setSubscriptionTimeout(int subscriptionTimeout) {
        this.subscriptionTimeout = subscriptionTimeout;
        return self();
    }

    /** What was set. */
    public int getSubscriptionTimeout() {
        return subscriptionTimeout;
    }

    /** Without meaning here: connections are shared and opened at need. Kept so that configurations compile; default 5. */
    public T setSubscriptionsPerConnection(int subscriptionsPerConnection) {
        this.subscriptionsPerConnection = subscriptionsPerConnection;
        return self();
    }

    /** What was set. */
    public int getSubscriptionsPerConnection() {
        return subscriptionsPerConnection;
    }

    /** Without meaning here: connections are shared and opened at need. Kept so that configurations compile; default 10000. */
    public T setIdleConnectionTimeout(int idleConnectionTimeout) {
        this.idleConnectionTimeout = idleConnectionTimeout;
        return self();
    }

    /** What was set. */
    public int getIdleConnectionTimeout() {
        return idleConnectionTimeout;
    }

    /** Without meaning here: connections are shared and opened at need. Kept so that configurations compile; default 30000. */
    public T setPingConnectionInterval(int pingConnectionInterval) {
        this.pingConnectionInterval = pingConnectionInterval;
        return self();
    }

    /** What was set. */
    public int getPingConnectionInterval() {
        return pingConnectionInterval;
    }
}

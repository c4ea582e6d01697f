package org.redisson.config;

/** How to reach one server. */
public class SingleServerConfig extends BaseConfig<SingleServerConfig> {
    private String address;
    private int database;
    private int connectionPoolSize = 64;
    private int connectionMinimumIdleSize = 24;
    private int subscriptionConnectionPoolSize = 50;
    private int subscriptionConnectionMinimumIdleSize = 1;

    SingleServerConfig() {}

    SingleServerConfig(SingleServerConfig other) {
        super(other);
        address = other.address;
        database = other.database;
        connectionPoolSize = other.connectionPoolSize;
        connectionMinimumIdleSize = other.connectionMinimumIdleSize;
        subscriptionConnectionPoolSize = other.subscriptionConnectionPoolSize;
        subscriptionConnectionMinimumIdleSize = other.subscriptionConnectionMinimumIdleSize;
    }

    @Override
    SingleServerConfig self() {
        return this;
    }

    /**
     * Where the server is: {@code redis://host:6379}, {@code rediss://host:6379} with TLS, {@code redis+uds:///path/to/socket}; {@code valkey} for
     * {@code redis} in any of them is the same. Required.
     */
    public SingleServerConfig setAddress(String address) {
        this.address = address;
        return this;
    }

    /** Where the server is, or null. */
    public String getAddress() {
        return address;
    }

    /** The number of the database; 0 by default. */
    public SingleServerConfig setDatabase(int database) {
        this.database = database;
        return this;
    }

    /** The number of the database. */
    public int getDatabase() {
        return database;
    }

    /** Without meaning here: connections are shared and opened at need. Kept so that configurations compile; default 64. */
    public SingleServerConfig setConnectionPoolSize(int connectionPoolSize) {
        this.connectionPoolSize = connectionPoolSize;
        return this;
    }

    /** What was set. */
    public int getConnectionPoolSize() {
        return connectionPoolSize;
    }

    /** Without meaning here: connections are shared and opened at need. Kept so that configurations compile; default 24. */
    public SingleServerConfig setConnectionMinimumIdleSize(int connectionMinimumIdleSize) {
        this.connectionMinimumIdleSize = connectionMinimumIdleSize;
        return this;
    }

    /** What was set. */
    public int getConnectionMinimumIdleSize() {
        return connectionMinimumIdleSize;
    }

    /** Without meaning here: connections are shared and opened at need. Kept so that configurations compile; default 50. */
    public SingleServerConfig setSubscriptionConnectionPoolSize(int subscriptionConnectionPoolSize) {
        this.subscriptionConnectionPoolSize = subscriptionConnectionPoolSize;
        return this;
    }

    /** What was set. */
    public int getSubscriptionConnectionPoolSize() {
        return subscriptionConnectionPoolSize;
    }

    /** Without meaning here: connections are shared and opened at need. Kept so that configurations compile; default 1. */
    public SingleServerConfig setSubscriptionConnectionMinimumIdleSize(int subscriptionConnectionMinimumIdleSize) {
        this.subscriptionConnectionMinimumIdleSize = subscriptionConnectionMinimumIdleSize;
        return this;
    }

    /** What was set. */
    public int getSubscriptionConnectionMinimumIdleSize() {
        return subscriptionConnectionMinimumIdleSize;
    }
}

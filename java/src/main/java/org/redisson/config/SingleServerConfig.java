package org.redisson.config;

/** One server. */
public class SingleServerConfig extends BaseConfig<SingleServerConfig> {
    SingleServerConfig() {}

    SingleServerConfig(SingleServerConfig other) {
        super(other);
    }

    @Override
    SingleServerConfig self() {
        return this;
    }

    @Override
    SingleServerConfig copy() {
        return new SingleServerConfig(this);
    }

    @Override
    String mode() {
        return "single server";
    }

    /**
     * Where the server is: {@code redis://[user:password@]host:6379}, {@code rediss://host:6379} with TLS,
     * {@code redis+uds:///path/to/socket}; {@code valkey} for {@code redis} in any of them is the same. Required.
     */
    public SingleServerConfig setAddress(String address) {
        kept.put("address", address);
        return this;
    }

    /** Where the server is, or null. */
    public String getAddress() {
        return kept.get("address", null);
    }

    /** The number of the database; 0 by default. */
    public SingleServerConfig setDatabase(int database) {
        kept.put("database", database);
        return this;
    }

    /** The value that was set. */
    public int getDatabase() {
        return kept.get("database", 0);
    }

    /** Without meaning here: connections are shared and opened at need; default 64. */
    public SingleServerConfig setConnectionPoolSize(int connectionPoolSize) {
        kept.idle("connectionPoolSize", connectionPoolSize);
        return this;
    }

    /** The value that was set. */
    public int getConnectionPoolSize() {
        return kept.get("connectionPoolSize", 64);
    }

    /** Without meaning here: connections are shared and opened at need; default 24. */
    public SingleServerConfig setConnectionMinimumIdleSize(int connectionMinimumIdleSize) {
        kept.idle("connectionMinimumIdleSize", connectionMinimumIdleSize);
        return this;
    }

    /** The value that was set. */
    public int getConnectionMinimumIdleSize() {
        return kept.get("connectionMinimumIdleSize", 24);
    }

    /** Without meaning here: connections are shared and opened at need; default 50. */
    public SingleServerConfig setSubscriptionConnectionPoolSize(int subscriptionConnectionPoolSize) {
        kept.idle("subscriptionConnectionPoolSize", subscriptionConnectionPoolSize);
        return this;
    }

    /** The value that was set. */
    public int getSubscriptionConnectionPoolSize() {
        return kept.get("subscriptionConnectionPoolSize", 50);
    }

    /** Without meaning here: connections are shared and opened at need; default 1. */
    public SingleServerConfig setSubscriptionConnectionMinimumIdleSize(int subscriptionConnectionMinimumIdleSize) {
        kept.idle("subscriptionConnectionMinimumIdleSize", subscriptionConnectionMinimumIdleSize);
        return this;
    }

    /** The value that was set. */
    public int getSubscriptionConnectionMinimumIdleSize() {
        return kept.get("subscriptionConnectionMinimumIdleSize", 1);
    }

    /** Without meaning here: the address is looked up for each new connection; default 5000. */
    public SingleServerConfig setDnsMonitoringInterval(long dnsMonitoringInterval) {
        kept.idle("dnsMonitoringInterval", dnsMonitoringInterval);
        return this;
    }

    /** The value that was set. */
    public long getDnsMonitoringInterval() {
        return kept.get("dnsMonitoringInterval", 5000L);
    }

    /** Without meaning here: the address is looked up for each new connection; default 1. */
    public SingleServerConfig setDnsMonitoringTimes(int dnsMonitoringTimes) {
        kept.idle("dnsMonitoringTimes", dnsMonitoringTimes);
        return this;
    }

    /** The value that was set. */
    public int getDnsMonitoringTimes() {
        return kept.get("dnsMonitoringTimes", 1);
    }
}

package org.redisson.config;

/** How to reach one server. */
public class SingleServerConfig extends BaseConfig<SingleServerConfig> {
    private String address;
    private int database;

    SingleServerConfig() {}

    SingleServerConfig(SingleServerConfig other) {
        super(other);
        address = other.address;
        database = other.database;
    }

    @Override
    SingleServerConfig self() {
        return this;
    }

    /**
     * Where the server is: {@code redis://host:6379}, {@code rediss://host:6379} with TLS, {@code redis+uds:///path/to/socket};
     * {@code valkey} for {@code redis} in any of them is the same. Required.
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
        kept.put("connectionPoolSize", connectionPoolSize);
        return this;
    }

    /** What was set. */
    public int getConnectionPoolSize() {
        return kept.get("connectionPoolSize", 64);
    }

    /** Without meaning here: connections are shared and opened at need. Kept so that configurations compile; default 24. */
    public SingleServerConfig setConnectionMinimumIdleSize(int connectionMinimumIdleSize) {
        kept.put("connectionMinimumIdleSize", connectionMinimumIdleSize);
        return this;
    }

    /** What was set. */
    public int getConnectionMinimumIdleSize() {
        return kept.get("connectionMinimumIdleSize", 24);
    }

    /** Without meaning here: connections are shared and opened at need. Kept so that configurations compile; default 50. */
    public SingleServerConfig setSubscriptionConnectionPoolSize(int subscriptionConnectionPoolSize) {
        kept.put("subscriptionConnectionPoolSize", subscriptionConnectionPoolSize);
        return this;
    }

    /** What was set. */
    public int getSubscriptionConnectionPoolSize() {
        return kept.get("subscriptionConnectionPoolSize", 50);
    }

    /** Without meaning here: connections are shared and opened at need. Kept so that configurations compile; default 1. */
    public SingleServerConfig setSubscriptionConnectionMinimumIdleSize(int subscriptionConnectionMinimumIdleSize) {
        kept.put("subscriptionConnectionMinimumIdleSize", subscriptionConnectionMinimumIdleSize);
        return this;
    }

    /** What was set. */
    public int getSubscriptionConnectionMinimumIdleSize() {
        return kept.get("subscriptionConnectionMinimumIdleSize", 1);
    }

    /** Without meaning here: the address is looked up for each new connection. Kept so that configurations compile; default 5000. */
    public SingleServerConfig setDnsMonitoringInterval(long dnsMonitoringInterval) {
        kept.put("dnsMonitoringInterval", dnsMonitoringInterval);
        return this;
    }

    /** What was set. */
    public long getDnsMonitoringInterval() {
        return kept.get("dnsMonitoringInterval", 5000L);
    }

    /** Without meaning here: the address is looked up for each new connection. Kept so that configurations compile; default 1. */
    public SingleServerConfig setDnsMonitoringTimes(int dnsMonitoringTimes) {
        kept.put("dnsMonitoringTimes", dnsMonitoringTimes);
        return this;
    }

    /** What was set. */
    public int getDnsMonitoringTimes() {
        return kept.get("dnsMonitoringTimes", 1);
    }
}

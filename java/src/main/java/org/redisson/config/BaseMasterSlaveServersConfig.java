package org.redisson.config;

import org.redisson.client.FailedConnectionDetector;
import org.redisson.client.FailedNodeDetector;
import org.redisson.connection.balancer.LoadBalancer;
import org.redisson.connection.balancer.RoundRobinLoadBalancer;

/**
 * The settings of servers with replicas. Locks are the master's alone, so the settings have no meaning here: they are kept and given back,
 * and {@code Redisson.create} names those that were set.
 *
 * @param <T> the configuration itself, for chaining
 */
public abstract class BaseMasterSlaveServersConfig<T extends BaseMasterSlaveServersConfig<T>> extends BaseConfig<T> {
    BaseMasterSlaveServersConfig() {}

    BaseMasterSlaveServersConfig(BaseMasterSlaveServersConfig<T> other) {
        super(other);
    }

    /** Without meaning here: no replica answers anything; default each in turn. */
    public T setLoadBalancer(LoadBalancer loadBalancer) {
        kept.idle("loadBalancer", loadBalancer);
        return self();
    }

    /** The value that was set. */
    public LoadBalancer getLoadBalancer() {
        return kept.get("loadBalancer", new RoundRobinLoadBalancer());
    }

    /** Without meaning here: locks are read from the master alone; default {@code SLAVE}. */
    public T setReadMode(ReadMode readMode) {
        kept.idle("readMode", readMode);
        return self();
    }

    /** The value that was set. */
    public ReadMode getReadMode() {
        return kept.get("readMode", ReadMode.SLAVE);
    }

    /** Without meaning here: the master alone is listened to; default {@code MASTER}. */
    public T setSubscriptionMode(SubscriptionMode subscriptionMode) {
        kept.idle("subscriptionMode", subscriptionMode);
        return self();
    }

    /** The value that was set. */
    public SubscriptionMode getSubscriptionMode() {
        return kept.get("subscriptionMode", SubscriptionMode.MASTER);
    }

    /** Without meaning here: connections are shared and opened at need; default 64. */
    public T setMasterConnectionPoolSize(int masterConnectionPoolSize) {
        kept.idle("masterConnectionPoolSize", masterConnectionPoolSize);
        return self();
    }

    /** The value that was set. */
    public int getMasterConnectionPoolSize() {
        return kept.get("masterConnectionPoolSize", 64);
    }

    /** Without meaning here: connections are shared and opened at need; default 24. */
    public T setMasterConnectionMinimumIdleSize(int masterConnectionMinimumIdleSize) {
        kept.idle("masterConnectionMinimumIdleSize", masterConnectionMinimumIdleSize);
        return self();
    }

    /** The value that was set. */
    public int getMasterConnectionMinimumIdleSize() {
        return kept.get("masterConnectionMinimumIdleSize", 24);
    }

    /** Without meaning here: no replica is connected to; default 64. */
    public T setSlaveConnectionPoolSize(int slaveConnectionPoolSize) {
        kept.idle("slaveConnectionPoolSize", slaveConnectionPoolSize);
        return self();
    }

    /** The value that was set. */
    public int getSlaveConnectionPoolSize() {
        return kept.get("slaveConnectionPoolSize", 64);
    }

    /** Without meaning here: no replica is connected to; default 24. */
    public T setSlaveConnectionMinimumIdleSize(int slaveConnectionMinimumIdleSize) {
        kept.idle("slaveConnectionMinimumIdleSize", slaveConnectionMinimumIdleSize);
        return self();
    }

    /** The value that was set. */
    public int getSlaveConnectionMinimumIdleSize() {
        return kept.get("slaveConnectionMinimumIdleSize", 24);
    }

    /** Without meaning here: connections are shared and opened at need; default 50. */
    public T setSubscriptionConnectionPoolSize(int subscriptionConnectionPoolSize) {
        kept.idle("subscriptionConnectionPoolSize", subscriptionConnectionPoolSize);
        return self();
    }

    /** The value that was set. */
    public int getSubscriptionConnectionPoolSize() {
        return kept.get("subscriptionConnectionPoolSize", 50);
    }

    /** Without meaning here: connections are shared and opened at need; default 1. */
    public T setSubscriptionConnectionMinimumIdleSize(int subscriptionConnectionMinimumIdleSize) {
        kept.idle("subscriptionConnectionMinimumIdleSize", subscriptionConnectionMinimumIdleSize);
        return self();
    }

    /** The value that was set. */
    public int getSubscriptionConnectionMinimumIdleSize() {
        return kept.get("subscriptionConnectionMinimumIdleSize", 1);
    }

    /** Without meaning here: no replica is connected to; default 3000. */
    public T setFailedSlaveReconnectionInterval(int failedSlaveReconnectionInterval) {
        kept.idle("failedSlaveReconnectionInterval", failedSlaveReconnectionInterval);
        return self();
    }

    /** The value that was set. */
    public int getFailedSlaveReconnectionInterval() {
        return kept.get("failedSlaveReconnectionInterval", 3000);
    }

    /** Without meaning here: no replica is connected to; default {@link FailedConnectionDetector}. */
    public T setFailedSlaveNodeDetector(FailedNodeDetector failedSlaveNodeDetector) {
        kept.idle("failedSlaveNodeDetector", failedSlaveNodeDetector);
        return self();
    }

    /** The value that was set. */
    public FailedNodeDetector getFailedSlaveNodeDetector() {
        return kept.get("failedSlaveNodeDetector", new FailedConnectionDetector());
    }

    /**
     * Without meaning here: no replica is connected to; default 180000.
     *
     * @deprecated use {@link #setFailedSlaveNodeDetector}
     */
    @Deprecated
    public T setFailedSlaveCheckInterval(int failedSlaveCheckInterval) {
        kept.idle("failedSlaveCheckInterval", failedSlaveCheckInterval);
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public int getFailedSlaveCheckInterval() {
        return kept.get("failedSlaveCheckInterval", 180000);
    }

    /** Without meaning here: locks are read from the master alone; default true. */
    public T setFallbackLoadingToMaster(boolean fallbackLoadingToMaster) {
        kept.idle("fallbackLoadingToMaster", fallbackLoadingToMaster);
        return self();
    }

    /** The value that was set. */
    public boolean isFallbackLoadingToMaster() {
        return kept.get("fallbackLoadingToMaster", true);
    }

    /** Without meaning here: an address is looked up for each new connection; default 5000. */
    public T setDnsMonitoringInterval(long dnsMonitoringInterval) {
        kept.idle("dnsMonitoringInterval", dnsMonitoringInterval);
        return self();
    }

    /** The value that was set. */
    public long getDnsMonitoringInterval() {
        return kept.get("dnsMonitoringInterval", 5000L);
    }

    /** Without meaning here: an address is looked up for each new connection; default 1. */
    public T setDnsMonitoringTimes(int dnsMonitoringTimes) {
        kept.idle("dnsMonitoringTimes", dnsMonitoringTimes);
        return self();
    }

    /** The value that was set. */
    public int getDnsMonitoringTimes() {
        return kept.get("dnsMonitoringTimes", 1);
    }

    /** Whether replicas answer neither reads nor subscriptions. */
    public boolean isSlaveNotUsed() {
        return getReadMode() == ReadMode.MASTER && getSubscriptionMode() == SubscriptionMode.MASTER;
    }
}

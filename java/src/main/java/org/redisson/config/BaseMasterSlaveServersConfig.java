package org.redisson.config;

import org.redisson.client.FailedConnectionDetector;
import org.redisson.client.FailedNodeDetector;
import org.redisson.connection.balancer.LoadBalancer;
import org.redisson.connection.balancer.RoundRobinLoadBalancer;

/**
 * What servers with replicas have in common. Every setting is kept and given back; {@code Redisson.create} refuses these modes by name.
 *
 * @param <T> the configuration itself, for chaining
 */
public abstract class BaseMasterSlaveServersConfig<T extends BaseMasterSlaveServersConfig<T>> extends BaseConfig<T> {
    BaseMasterSlaveServersConfig() {}

    BaseMasterSlaveServersConfig(BaseMasterSlaveServersConfig<T> other) {
        super(other);
    }

    /** Which replica answers a read; each in turn by default. */
    public T setLoadBalancer(LoadBalancer loadBalancer) {
        kept.put("loadBalancer", loadBalancer);
        return self();
    }

    /** What was set. */
    public LoadBalancer getLoadBalancer() {
        return kept.get("loadBalancer", new RoundRobinLoadBalancer());
    }

    /** Who answers reads; {@code SLAVE} by default. */
    public T setReadMode(ReadMode readMode) {
        kept.put("readMode", readMode);
        return self();
    }

    /** What was set. */
    public ReadMode getReadMode() {
        return kept.get("readMode", ReadMode.SLAVE);
    }

    /** Whom to listen to; {@code MASTER} by default. */
    public T setSubscriptionMode(SubscriptionMode subscriptionMode) {
        kept.put("subscriptionMode", subscriptionMode);
        return self();
    }

    /** What was set. */
    public SubscriptionMode getSubscriptionMode() {
        return kept.get("subscriptionMode", SubscriptionMode.MASTER);
    }

    /** The most connections to the master; 64 by default. */
    public T setMasterConnectionPoolSize(int masterConnectionPoolSize) {
        kept.put("masterConnectionPoolSize", masterConnectionPoolSize);
        return self();
    }

    /** What was set. */
    public int getMasterConnectionPoolSize() {
        return kept.get("masterConnectionPoolSize", 64);
    }

    /** The least connections to the master; 24 by default. */
    public T setMasterConnectionMinimumIdleSize(int masterConnectionMinimumIdleSize) {
        kept.put("masterConnectionMinimumIdleSize", masterConnectionMinimumIdleSize);
        return self();
    }

    /** What was set. */
    public int getMasterConnectionMinimumIdleSize() {
        return kept.get("masterConnectionMinimumIdleSize", 24);
    }

    /** The most connections to each replica; 64 by default. */
    public T setSlaveConnectionPoolSize(int slaveConnectionPoolSize) {
        kept.put("slaveConnectionPoolSize", slaveConnectionPoolSize);
        return self();
    }

    /** What was set. */
    public int getSlaveConnectionPoolSize() {
        return kept.get("slaveConnectionPoolSize", 64);
    }

    /** The least connections to each replica; 24 by default. */
    public T setSlaveConnectionMinimumIdleSize(int slaveConnectionMinimumIdleSize) {
        kept.put("slaveConnectionMinimumIdleSize", slaveConnectionMinimumIdleSize);
        return self();
    }

    /** What was set. */
    public int getSlaveConnectionMinimumIdleSize() {
        return kept.get("slaveConnectionMinimumIdleSize", 24);
    }

    /** The most connections that listen; 50 by default. */
    public T setSubscriptionConnectionPoolSize(int subscriptionConnectionPoolSize) {
        kept.put("subscriptionConnectionPoolSize", subscriptionConnectionPoolSize);
        return self();
    }

    /** What was set. */
    public int getSubscriptionConnectionPoolSize() {
        return kept.get("subscriptionConnectionPoolSize", 50);
    }

    /** The least connections that listen; 1 by default. */
    public T setSubscriptionConnectionMinimumIdleSize(int subscriptionConnectionMinimumIdleSize) {
        kept.put("subscriptionConnectionMinimumIdleSize", subscriptionConnectionMinimumIdleSize);
        return self();
    }

    /** What was set. */
    public int getSubscriptionConnectionMinimumIdleSize() {
        return kept.get("subscriptionConnectionMinimumIdleSize", 1);
    }

    /** When a failed replica is tried again, in ms; 3000 by default. */
    public T setFailedSlaveReconnectionInterval(int failedSlaveReconnectionInterval) {
        kept.put("failedSlaveReconnectionInterval", failedSlaveReconnectionInterval);
        return self();
    }

    /** What was set. */
    public int getFailedSlaveReconnectionInterval() {
        return kept.get("failedSlaveReconnectionInterval", 3000);
    }

    /** When a replica has failed; by default after three minutes without a connection. */
    public T setFailedSlaveNodeDetector(FailedNodeDetector failedSlaveNodeDetector) {
        kept.put("failedSlaveNodeDetector", failedSlaveNodeDetector);
        return self();
    }

    /** What was set. */
    public FailedNodeDetector getFailedSlaveNodeDetector() {
        return kept.get("failedSlaveNodeDetector", new FailedConnectionDetector());
    }

    /**
     * How long a replica must be out of reach to have failed, in ms; 180000 by default.
     *
     * @deprecated use {@link #setFailedSlaveNodeDetector}
     */
    @Deprecated
    public T setFailedSlaveCheckInterval(int failedSlaveCheckInterval) {
        kept.put("failedSlaveCheckInterval", failedSlaveCheckInterval);
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public int getFailedSlaveCheckInterval() {
        return kept.get("failedSlaveCheckInterval", 180000);
    }

    /** Whether the master answers while a replica loads its data; true by default. */
    public T setFallbackLoadingToMaster(boolean fallbackLoadingToMaster) {
        kept.put("fallbackLoadingToMaster", fallbackLoadingToMaster);
        return self();
    }

    /** What was set. */
    public boolean isFallbackLoadingToMaster() {
        return kept.get("fallbackLoadingToMaster", true);
    }

    /** How often addresses are looked up, in ms; 5000 by default. */
    public T setDnsMonitoringInterval(long dnsMonitoringInterval) {
        kept.put("dnsMonitoringInterval", dnsMonitoringInterval);
        return self();
    }

    /** What was set. */
    public long getDnsMonitoringInterval() {
        return kept.get("dnsMonitoringInterval", 5000L);
    }

    /** How often a look-up must fail to be believed; 1 by default. */
    public T setDnsMonitoringTimes(int dnsMonitoringTimes) {
        kept.put("dnsMonitoringTimes", dnsMonitoringTimes);
        return self();
    }

    /** What was set. */
    public int getDnsMonitoringTimes() {
        return kept.get("dnsMonitoringTimes", 1);
    }

    /** Whether replicas answer neither reads nor subscriptions. */
    public boolean isSlaveNotUsed() {
        return getReadMode() == ReadMode.MASTER && getSubscriptionMode() == SubscriptionMode.MASTER;
    }
}

package org.redisson.config;

import java.util.Set;
import java.util.concurrent.Executor;
import org.redisson.client.DefaultNettyHook;
import org.redisson.client.NettyHook;
import org.redisson.connection.AddressResolverGroupFactory;
import org.redisson.connection.ConnectionListener;
import org.redisson.connection.SequentialDnsAddressResolverFactory;

/**
 * The part of {@link Config} about parts of Redisson that this library lacks. Its settings are accepted and given back, and {@code Redisson.create}
 * names those without meaning that were set.
 *
 * @param <T> the configuration itself, for chaining
 */
abstract class RuntimeSettings<T extends Config> extends TlsSettings<T> {
    /** Without meaning here: there is one I/O thread, and it is native; default 16. */
    public T setThreads(int threads) {
        kept.idle("threads", threads);
        return self();
    }

    /** The value that was set. */
    public int getThreads() {
        return kept.get("threads", 16);
    }

    /** Without meaning here: there is one I/O thread, and it is native; default 32. */
    public T setNettyThreads(int nettyThreads) {
        kept.idle("nettyThreads", nettyThreads);
        return self();
    }

    /** The value that was set. */
    public int getNettyThreads() {
        return kept.get("nettyThreads", 32);
    }

    /** Without meaning here: there is one I/O thread, and it is native; default null. */
    public T setNettyExecutor(Executor nettyExecutor) {
        kept.idle("nettyExecutor", nettyExecutor);
        return self();
    }

    /** The value that was set. */
    public Executor getNettyExecutor() {
        return kept.get("nettyExecutor", null);
    }

    /**
     * Without meaning here: there is no Netty, so that any object is taken where Redisson wants a group of Netty's event loops; default null.
     * Sources compile as they are; classes that were compiled with Redisson and call this have to be compiled anew.
     */
    public T setEventLoopGroup(Object eventLoopGroup) {
        kept.idle("eventLoopGroup", eventLoopGroup);
        return self();
    }

    /** The value that was set. */
    public Object getEventLoopGroup() {
        return kept.get("eventLoopGroup", null);
    }

    /** Without meaning here: there is one I/O thread, and it is native; default {@code NIO}. */
    public T setTransportMode(TransportMode transportMode) {
        kept.idle("transportMode", transportMode);
        return self();
    }

    /** The value that was set. */
    public TransportMode getTransportMode() {
        return kept.get("transportMode", TransportMode.NIO);
    }

    /** Without meaning here: there is no Netty; default one that does nothing. */
    public T setNettyHook(NettyHook nettyHook) {
        kept.idle("nettyHook", nettyHook);
        return self();
    }

    /** The value that was set. */
    public NettyHook getNettyHook() {
        return kept.get("nettyHook", new DefaultNettyHook());
    }

    /** Without meaning here: the operating system looks names up; default {@link SequentialDnsAddressResolverFactory}. */
    public T setAddressResolverGroupFactory(AddressResolverGroupFactory addressResolverGroupFactory) {
        kept.idle("addressResolverGroupFactory", addressResolverGroupFactory);
        return self();
    }

    /** The value that was set. */
    public AddressResolverGroupFactory getAddressResolverGroupFactory() {
        return kept.get("addressResolverGroupFactory", new SequentialDnsAddressResolverFactory());
    }

    /** Without meaning here: connections are shared and opened at need, and no listener is told; default null. */
    public T setConnectionListener(ConnectionListener connectionListener) {
        kept.idle("connectionListener", connectionListener);
        return self();
    }

    /** The value that was set. */
    public ConnectionListener getConnectionListener() {
        return kept.get("connectionListener", null);
    }

    /** Without meaning here: the native library chooses for each connection; default {@code RESP2}. */
    public T setProtocol(Protocol protocol) {
        kept.idle("protocol", protocol);
        return self();
    }

    /** The value that was set. */
    public Protocol getProtocol() {
        return kept.get("protocol", Protocol.RESP2);
    }

    /** Without meaning here; default none. */
    public T setValkeyCapabilities(Set<ValkeyCapability> valkeyCapabilities) {
        kept.idle("valkeyCapabilities", valkeyCapabilities);
        return self();
    }

    /** The value that was set. */
    public Set<ValkeyCapability> getValkeyCapabilities() {
        return kept.get("valkeyCapabilities", Set.of());
    }

    /** Without meaning here: scripts are always sent by their hash, and whole where the server does not know them; default true. */
    public T setUseScriptCache(boolean useScriptCache) {
        kept.idle("useScriptCache", useScriptCache);
        return self();
    }

    /** The value that was set. */
    public boolean isUseScriptCache() {
        return kept.get("useScriptCache", true);
    }

    /** Without meaning here: a listener is always called in the order of the events; default true. */
    public T setKeepPubSubOrder(boolean keepPubSubOrder) {
        kept.idle("keepPubSubOrder", keepPubSubOrder);
        return self();
    }

    /** The value that was set. */
    public boolean isKeepPubSubOrder() {
        return kept.get("keepPubSubOrder", true);
    }

    /** Without meaning here: it is for objects that are read back; default true. */
    public T setUseThreadClassLoader(boolean useThreadClassLoader) {
        kept.idle("useThreadClassLoader", useThreadClassLoader);
        return self();
    }

    /** The value that was set. */
    public boolean isUseThreadClassLoader() {
        return kept.get("useThreadClassLoader", true);
    }

    /** Without meaning here: it is for objects that are read back; default true. */
    public void setReferenceEnabled(boolean referenceEnabled) {
        kept.idle("referenceEnabled", referenceEnabled);
    }

    /** The value that was set. */
    public boolean isReferenceEnabled() {
        return kept.get("referenceEnabled", true);
    }

    /** Without meaning here: it is for objects other than locks; default 5. */
    public T setMinCleanUpDelay(int minCleanUpDelay) {
        kept.idle("minCleanUpDelay", minCleanUpDelay);
        return self();
    }

    /** The value that was set. */
    public int getMinCleanUpDelay() {
        return kept.get("minCleanUpDelay", 5);
    }

    /** Without meaning here: it is for objects other than locks; default 1800. */
    public T setMaxCleanUpDelay(int maxCleanUpDelay) {
        kept.idle("maxCleanUpDelay", maxCleanUpDelay);
        return self();
    }

    /** The value that was set. */
    public int getMaxCleanUpDelay() {
        return kept.get("maxCleanUpDelay", 1800);
    }

    /** Without meaning here: it is for objects other than locks; default 100. */
    public T setCleanUpKeysAmount(int cleanUpKeysAmount) {
        kept.idle("cleanUpKeysAmount", cleanUpKeysAmount);
        return self();
    }

    /** The value that was set. */
    public int getCleanUpKeysAmount() {
        return kept.get("cleanUpKeysAmount", 100);
    }

    /** Without meaning here: it is for objects other than locks; default 600000. */
    public T setReliableTopicWatchdogTimeout(long reliableTopicWatchdogTimeout) {
        kept.idle("reliableTopicWatchdogTimeout", reliableTopicWatchdogTimeout);
        return self();
    }

    /** The value that was set. */
    public long getReliableTopicWatchdogTimeout() {
        return kept.get("reliableTopicWatchdogTimeout", 600000L);
    }

    /**
     * Whether an acquire fails with a {@link org.redisson.command.NoSyncedSlavesException} when no replica has confirmed it in time, and gives the
     * lock back; default true. With false, it waits for the replicas all the same. A single server, a server without connected replicas and one
     * that knows no {@code WAIT} ask no replica.
     */
    public T setCheckLockSyncedSlaves(boolean checkLockSyncedSlaves) {
        kept.put("checkLockSyncedSlaves", checkLockSyncedSlaves);
        return self();
    }

    /** The value that was set. */
    public boolean isCheckLockSyncedSlaves() {
        return kept.get("checkLockSyncedSlaves", true);
    }

    /** How long, in ms, an acquire waits for the replicas to confirm it; 0: no replica is asked; default 1000. */
    public T setSlavesSyncTimeout(long slavesSyncTimeout) {
        kept.put("slavesSyncTimeout", slavesSyncTimeout);
        return self();
    }

    /** The value that was set. */
    public long getSlavesSyncTimeout() {
        return kept.get("slavesSyncTimeout", 1000L);
    }

    /** Without meaning here: the native library chooses how many renewals go in one call; default 100. */
    public T setLockWatchdogBatchSize(int lockWatchdogBatchSize) {
        kept.idle("lockWatchdogBatchSize", lockWatchdogBatchSize);
        return self();
    }

    /** The value that was set. */
    public int getLockWatchdogBatchSize() {
        return kept.get("lockWatchdogBatchSize", 100);
    }

    /**
     * How many ms a waiter of Redisson stands in the queue of a fair lock, so that both libraries count alike; default 300000. A
     * waiter of this library that fell silent is passed over after 5 s, with any setting.
     */
    public T setFairLockWaitTimeout(long fairLockWaitTimeout) {
        kept.put("fairLockWaitTimeout", fairLockWaitTimeout);
        return self();
    }

    /** The value that was set. */
    public long getFairLockWaitTimeout() {
        return kept.get("fairLockWaitTimeout", 300000L);
    }
}

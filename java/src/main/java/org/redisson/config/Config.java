package org.redisson.config;

import io.redlatch.Options;
import java.net.URL;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import org.redisson.client.codec.Codec;
import org.redisson.codec.Kryo5Codec;

/** Everything that a client needs to know. A client takes a copy; later changes are without effect. */
public class Config implements Options.Extended {
    private SingleServerConfig singleServer;
    private String username;
    private String password;
    private long lockWatchdogTimeout = 30000;
    private boolean lazyInitialization;
    private NameMapper nameMapper = NameMapper.direct();
    private ExecutorService executor;
    private boolean releaseOnShutdown;
    private Codec codec;
    private final Kept kept = new Kept();

    /** The defaults, without a server. */
    public Config() {}

    /** @param other what to copy; a codec that it lacks is {@link Kryo5Codec} in the copy */
    public Config(Config other) {
        singleServer = other.singleServer == null ? null : new SingleServerConfig(other.singleServer);
        username = other.username;
        password = other.password;
        lockWatchdogTimeout = other.lockWatchdogTimeout;
        lazyInitialization = other.lazyInitialization;
        nameMapper = other.nameMapper;
        executor = other.executor;
        releaseOnShutdown = other.releaseOnShutdown;
        codec = other.codec == null ? new Kryo5Codec() : other.codec;
        kept.putAll(other.kept);
    }

    /** One server; further calls return the same configuration of it. */
    public SingleServerConfig useSingleServer() {
        if (singleServer == null) {
            singleServer = new SingleServerConfig();
        }
        return singleServer;
    }

    /** Whether {@link #useSingleServer} was called. */
    public boolean isSingleConfig() {
        return singleServer != null;
    }

    /** The user to log in as; none by default. */
    public Config setUsername(String username) {
        this.username = username;
        return this;
    }

    /** The user to log in as, or null. */
    public String getUsername() {
        return username;
    }

    /** The password to log in with; none by default. */
    public Config setPassword(String password) {
        this.password = password;
        return this;
    }

    /** The password to log in with, or null. */
    public String getPassword() {
        return password;
    }

    /**
     * The lease, in ms, of holds that are renewed until release; 30000 by default, 100 at least. They are renewed every third of it, and
     * end this long after the death of their process.
     */
    public Config setLockWatchdogTimeout(long lockWatchdogTimeout) {
        this.lockWatchdogTimeout = lockWatchdogTimeout;
        return this;
    }

    /** The lease of holds that are renewed, in ms. */
    public long getLockWatchdogTimeout() {
        return lockWatchdogTimeout;
    }

    /** Whether the first call connects, and not {@code Redisson.create}; false by default. */
    public Config setLazyInitialization(boolean lazyInitialization) {
        this.lazyInitialization = lazyInitialization;
        return this;
    }

    /** Whether the first call connects. */
    public boolean isLazyInitialization() {
        return lazyInitialization;
    }

    @Override
    public void releaseOnShutdown() {
        releaseOnShutdown = true;
    }

    /** Whether clients give back what they hold when they are shut down, see {@link Options}; false by default. */
    public boolean isReleaseOnShutdown() {
        return releaseOnShutdown;
    }

    /** False: clusters are not supported. */
    public boolean isClusterConfig() {
        return false;
    }

    /** False: sentinels are not supported. */
    public boolean isSentinelConfig() {
        return false;
    }

    /** What names are on the server; as they are by default. It goes before that of the server's configuration. */
    public Config setNameMapper(NameMapper nameMapper) {
        this.nameMapper = Objects.requireNonNull(nameMapper, "nameMapper can't be null");
        return this;
    }

    /** What names are on the server. */
    public NameMapper getNameMapper() {
        return nameMapper;
    }

    /** Where listeners and the continuations of futures run; on threads of the library by default. It is not shut down with the client. */
    public Config setExecutor(ExecutorService executor) {
        this.executor = executor;
        return this;
    }

    /** Where listeners and the continuations of futures run, or null. */
    public ExecutorService getExecutor() {
        return executor;
    }

    /** How the values of a multi lock by group become bytes; null, the default, is {@link Kryo5Codec}. Locks by name encode nothing. */
    public Config setCodec(Codec codec) {
        this.codec = codec;
        return this;
    }

    /** What was set, or null; in the configuration of a client never null. */
    public Codec getCodec() {
        return codec;
    }

    /** Without meaning here: there is one I/O thread, and it is native. Kept so that configurations compile; default 16. */
    public Config setThreads(int threads) {
        kept.put("threads", threads);
        return this;
    }

    /** What was set. */
    public int getThreads() {
        return kept.get("threads", 16);
    }

    /** Without meaning here: there is one I/O thread, and it is native. Kept so that configurations compile; default 32. */
    public Config setNettyThreads(int nettyThreads) {
        kept.put("nettyThreads", nettyThreads);
        return this;
    }

    /** What was set. */
    public int getNettyThreads() {
        return kept.get("nettyThreads", 32);
    }

    /** Without meaning here: there is one I/O thread, and it is native. Kept so that configurations compile; default null. */
    public Config setNettyExecutor(Executor nettyExecutor) {
        kept.put("nettyExecutor", nettyExecutor);
        return this;
    }

    /** What was set. */
    public Executor getNettyExecutor() {
        return kept.get("nettyExecutor", null);
    }

    /** Without meaning here: there is one I/O thread, and it is native. Kept so that configurations compile; default TransportMode.NIO. */
    public Config setTransportMode(TransportMode transportMode) {
        kept.put("transportMode", transportMode);
        return this;
    }

    /** What was set. */
    public TransportMode getTransportMode() {
        return kept.get("transportMode", TransportMode.NIO);
    }

    /**
     * Without meaning here: the native library chooses for each connection. Kept so that configurations compile; default Protocol.RESP2.
     */
    public Config setProtocol(Protocol protocol) {
        kept.put("protocol", protocol);
        return this;
    }

    /** What was set. */
    public Protocol getProtocol() {
        return kept.get("protocol", Protocol.RESP2);
    }

    /** Without meaning here: there is one server to talk to. Kept so that configurations compile; default none. */
    public Config setValkeyCapabilities(Set<ValkeyCapability> valkeyCapabilities) {
        kept.put("valkeyCapabilities", valkeyCapabilities);
        return this;
    }

    /** What was set. */
    public Set<ValkeyCapability> getValkeyCapabilities() {
        return kept.get("valkeyCapabilities", Set.of());
    }

    /**
     * Without meaning here: scripts are always sent by their hash, and whole where the server does not know them. Kept so that
     * configurations compile; default true.
     */
    public Config setUseScriptCache(boolean useScriptCache) {
        kept.put("useScriptCache", useScriptCache);
        return this;
    }

    /** What was set. */
    public boolean isUseScriptCache() {
        return kept.get("useScriptCache", true);
    }

    /** Without meaning here: a listener is always called in the order of the events. Kept so that configurations compile; default true. */
    public Config setKeepPubSubOrder(boolean keepPubSubOrder) {
        kept.put("keepPubSubOrder", keepPubSubOrder);
        return this;
    }

    /** What was set. */
    public boolean isKeepPubSubOrder() {
        return kept.get("keepPubSubOrder", true);
    }

    /** Without meaning here: nothing is serialized. Kept so that configurations compile; default true. */
    public Config setUseThreadClassLoader(boolean useThreadClassLoader) {
        kept.put("useThreadClassLoader", useThreadClassLoader);
        return this;
    }

    /** What was set. */
    public boolean isUseThreadClassLoader() {
        return kept.get("useThreadClassLoader", true);
    }

    /** Without meaning here: nothing is serialized. Kept so that configurations compile; default true. */
    public void setReferenceEnabled(boolean referenceEnabled) {
        kept.put("referenceEnabled", referenceEnabled);
    }

    /** What was set. */
    public boolean isReferenceEnabled() {
        return kept.get("referenceEnabled", true);
    }

    /** Without meaning here: one server has no replicas that could confirm. Kept so that configurations compile; default true. */
    public Config setCheckLockSyncedSlaves(boolean checkLockSyncedSlaves) {
        kept.put("checkLockSyncedSlaves", checkLockSyncedSlaves);
        return this;
    }

    /** What was set. */
    public boolean isCheckLockSyncedSlaves() {
        return kept.get("checkLockSyncedSlaves", true);
    }

    /** Without meaning here: one server has no replicas that could confirm. Kept so that configurations compile; default 1000. */
    public Config setSlavesSyncTimeout(long slavesSyncTimeout) {
        kept.put("slavesSyncTimeout", slavesSyncTimeout);
        return this;
    }

    /** What was set. */
    public long getSlavesSyncTimeout() {
        return kept.get("slavesSyncTimeout", 1000L);
    }

    /** Without meaning here: renewals go in batches of 100. Kept so that configurations compile; default 100. */
    public Config setLockWatchdogBatchSize(int lockWatchdogBatchSize) {
        kept.put("lockWatchdogBatchSize", lockWatchdogBatchSize);
        return this;
    }

    /** What was set. */
    public int getLockWatchdogBatchSize() {
        return kept.get("lockWatchdogBatchSize", 100);
    }

    /** Without meaning here: there are no fair locks. Kept so that configurations compile; default 300000. */
    public Config setFairLockWaitTimeout(long fairLockWaitTimeout) {
        kept.put("fairLockWaitTimeout", fairLockWaitTimeout);
        return this;
    }

    /** What was set. */
    public long getFairLockWaitTimeout() {
        return kept.get("fairLockWaitTimeout", 300000L);
    }

    /** Without meaning here: it is for objects other than locks. Kept so that configurations compile; default 5. */
    public Config setMinCleanUpDelay(int minCleanUpDelay) {
        kept.put("minCleanUpDelay", minCleanUpDelay);
        return this;
    }

    /** What was set. */
    public int getMinCleanUpDelay() {
        return kept.get("minCleanUpDelay", 5);
    }

    /** Without meaning here: it is for objects other than locks. Kept so that configurations compile; default 1800. */
    public Config setMaxCleanUpDelay(int maxCleanUpDelay) {
        kept.put("maxCleanUpDelay", maxCleanUpDelay);
        return this;
    }

    /** What was set. */
    public int getMaxCleanUpDelay() {
        return kept.get("maxCleanUpDelay", 1800);
    }

    /** Without meaning here: it is for objects other than locks. Kept so that configurations compile; default 100. */
    public Config setCleanUpKeysAmount(int cleanUpKeysAmount) {
        kept.put("cleanUpKeysAmount", cleanUpKeysAmount);
        return this;
    }

    /** What was set. */
    public int getCleanUpKeysAmount() {
        return kept.get("cleanUpKeysAmount", 100);
    }

    /** Without meaning here: it is for objects other than locks. Kept so that configurations compile; default 600000. */
    public Config setReliableTopicWatchdogTimeout(long reliableTopicWatchdogTimeout) {
        kept.put("reliableTopicWatchdogTimeout", reliableTopicWatchdogTimeout);
        return this;
    }

    /** What was set. */
    public long getReliableTopicWatchdogTimeout() {
        return kept.get("reliableTopicWatchdogTimeout", 600000L);
    }

    /**
     * What the server's certificate must prove when the address asks for TLS; by default that a trusted authority has signed it for this
     * host.
     */
    public Config setSslVerificationMode(SslVerificationMode sslVerificationMode) {
        kept.put("sslVerificationMode", sslVerificationMode);
        return this;
    }

    /** What was set. */
    public SslVerificationMode getSslVerificationMode() {
        return kept.get("sslVerificationMode", SslVerificationMode.STRICT);
    }

    /** Without meaning here: TLS is the native library's own. Kept so that configurations compile; default SslProvider.JDK. */
    public Config setSslProvider(SslProvider sslProvider) {
        kept.put("sslProvider", sslProvider);
        return this;
    }

    /** What was set. */
    public SslProvider getSslProvider() {
        return kept.get("sslProvider", SslProvider.JDK);
    }

    /** A key store (PKCS12 or JKS) with the authorities to trust; by default those of the system. */
    public Config setSslTruststore(URL sslTruststore) {
        kept.put("sslTruststore", sslTruststore);
        return this;
    }

    /** What was set. */
    public URL getSslTruststore() {
        return kept.get("sslTruststore", null);
    }

    /** The password of the trust store; none by default. */
    public Config setSslTruststorePassword(String sslTruststorePassword) {
        kept.put("sslTruststorePassword", sslTruststorePassword);
        return this;
    }

    /** What was set. */
    public String getSslTruststorePassword() {
        return kept.get("sslTruststorePassword", null);
    }

    /**
     * Only the default, null, can be had: trust is decided in the native library; name a trust store.
     *
     * @throws UnsupportedOperationException for anything else
     */
    public Config setSslTrustManagerFactory(TrustManagerFactory sslTrustManagerFactory) {
        Unsupported.unless("sslTrustManagerFactory", sslTrustManagerFactory, null, Unsupported.TRUST);
        return this;
    }

    /** null. */
    public TrustManagerFactory getSslTrustManagerFactory() {
        return null;
    }

    /** A key store with the client's own certificate and key, where the server wants one; none by default. */
    public Config setSslKeystore(URL sslKeystore) {
        kept.put("sslKeystore", sslKeystore);
        return this;
    }

    /** What was set. */
    public URL getSslKeystore() {
        return kept.get("sslKeystore", null);
    }

    /** The password of the key store and of its key; none by default. */
    public Config setSslKeystorePassword(String sslKeystorePassword) {
        kept.put("sslKeystorePassword", sslKeystorePassword);
        return this;
    }

    /** What was set. */
    public String getSslKeystorePassword() {
        return kept.get("sslKeystorePassword", null);
    }

    /** The type of both stores; by default PKCS12 or JKS, whichever it is. */
    public Config setSslKeystoreType(String sslKeystoreType) {
        kept.put("sslKeystoreType", sslKeystoreType);
        return this;
    }

    /** What was set. */
    public String getSslKeystoreType() {
        return kept.get("sslKeystoreType", null);
    }

    /**
     * Only the default, null, can be had: TLS is the native library's own; name a key store.
     *
     * @throws UnsupportedOperationException for anything else
     */
    public Config setSslKeyManagerFactory(KeyManagerFactory sslKeyManagerFactory) {
        Unsupported.unless("sslKeyManagerFactory", sslKeyManagerFactory, null, Unsupported.CERTIFICATE);
        return this;
    }

    /** null. */
    public KeyManagerFactory getSslKeyManagerFactory() {
        return null;
    }

    /**
     * Only the default, null, can be had: TLS is the native library's own, with the protocols and ciphers that it finds safe.
     *
     * @throws UnsupportedOperationException for anything else
     */
    public Config setSslProtocols(String[] sslProtocols) {
        Unsupported.unless("sslProtocols", sslProtocols, null, Unsupported.TLS);
        return this;
    }

    /** null. */
    public String[] getSslProtocols() {
        return null;
    }

    /**
     * Only the default, null, can be had: TLS is the native library's own, with the protocols and ciphers that it finds safe.
     *
     * @throws UnsupportedOperationException for anything else
     */
    public Config setSslCiphers(String[] sslCiphers) {
        Unsupported.unless("sslCiphers", sslCiphers, null, Unsupported.TLS);
        return this;
    }

    /** null. */
    public String[] getSslCiphers() {
        return null;
    }

    /** Without meaning here: the native library sets up its sockets. Kept so that configurations compile; default true. */
    public Config setTcpKeepAlive(boolean tcpKeepAlive) {
        kept.put("tcpKeepAlive", tcpKeepAlive);
        return this;
    }

    /** What was set. */
    public boolean isTcpKeepAlive() {
        return kept.get("tcpKeepAlive", true);
    }

    /** Without meaning here: the native library sets up its sockets. Kept so that configurations compile; default 0. */
    public Config setTcpKeepAliveCount(int tcpKeepAliveCount) {
        kept.put("tcpKeepAliveCount", tcpKeepAliveCount);
        return this;
    }

    /** What was set. */
    public int getTcpKeepAliveCount() {
        return kept.get("tcpKeepAliveCount", 0);
    }

    /** Without meaning here: the native library sets up its sockets. Kept so that configurations compile; default 0. */
    public Config setTcpKeepAliveIdle(int tcpKeepAliveIdle) {
        kept.put("tcpKeepAliveIdle", tcpKeepAliveIdle);
        return this;
    }

    /** What was set. */
    public int getTcpKeepAliveIdle() {
        return kept.get("tcpKeepAliveIdle", 0);
    }

    /** Without meaning here: the native library sets up its sockets. Kept so that configurations compile; default 0. */
    public Config setTcpKeepAliveInterval(int tcpKeepAliveInterval) {
        kept.put("tcpKeepAliveInterval", tcpKeepAliveInterval);
        return this;
    }

    /** What was set. */
    public int getTcpKeepAliveInterval() {
        return kept.get("tcpKeepAliveInterval", 0);
    }

    /** Without meaning here: the native library sets up its sockets. Kept so that configurations compile; default 0. */
    public Config setTcpUserTimeout(int tcpUserTimeout) {
        kept.put("tcpUserTimeout", tcpUserTimeout);
        return this;
    }

    /** What was set. */
    public int getTcpUserTimeout() {
        return kept.get("tcpUserTimeout", 0);
    }

    /** Without meaning here: the native library sets up its sockets. Kept so that configurations compile; default true. */
    public Config setTcpNoDelay(boolean tcpNoDelay) {
        kept.put("tcpNoDelay", tcpNoDelay);
        return this;
    }

    /** What was set. */
    public boolean isTcpNoDelay() {
        return kept.get("tcpNoDelay", true);
    }
}

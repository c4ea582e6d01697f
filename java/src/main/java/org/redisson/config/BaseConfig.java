package org.redisson.config;

import java.net.URL;
import java.time.Duration;
import java.util.Objects;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;

/**
 * What every way of reaching servers has in common.
 *
 * @param <T> the configuration itself, for chaining
 */
public abstract class BaseConfig<T extends BaseConfig<T>> {
    private static final DelayStrategy RECONNECTION = new EqualJitterDelay(Duration.ofMillis(100), Duration.ofSeconds(10));

    private int timeout = 3000;
    private int connectTimeout = 10000;
    private int retryAttempts = 4;
    private DelayStrategy retryDelay = new EqualJitterDelay(Duration.ofSeconds(1), Duration.ofSeconds(2));
    private String clientName;
    private String username;
    private String password;
    private NameMapper nameMapper = NameMapper.direct();
    final Kept kept = new Kept();

    BaseConfig() {}

    BaseConfig(BaseConfig<T> other) {
        timeout = other.timeout;
        connectTimeout = other.connectTimeout;
        retryAttempts = other.retryAttempts;
        retryDelay = other.retryDelay;
        clientName = other.clientName;
        username = other.username;
        password = other.password;
        nameMapper = other.nameMapper;
        kept.putAll(other.kept);
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
        this.retryDelay = Objects.requireNonNull(retryDelay, "retryDelay can't be null");
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
        kept.put("retryInterval", retryInterval);
        return setRetryDelay(new ConstantDelay(Duration.ofMillis(retryInterval)));
    }

    /**
     * What was set, or 1500.
     *
     * @deprecated use {@link #getRetryDelay}
     */
    @Deprecated
    public int getRetryInterval() {
        return kept.get("retryInterval", 1500);
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

    /**
     * Without meaning here: a connection is opened anew by the first call that needs it. Kept so that configurations compile; default
     * {@link EqualJitterDelay} from 100 ms to 10 s.
     */
    public T setReconnectionDelay(DelayStrategy reconnectionDelay) {
        kept.put("reconnectionDelay", reconnectionDelay);
        return self();
    }

    /** What was set. */
    public DelayStrategy getReconnectionDelay() {
        return kept.get("reconnectionDelay", RECONNECTION);
    }

    /** Without meaning here: connections are shared and opened at need. Kept so that configurations compile; default 7500. */
    public T setSubscriptionTimeout(int subscriptionTimeout) {
        kept.put("subscriptionTimeout", subscriptionTimeout);
        return self();
    }

    /** What was set. */
    public int getSubscriptionTimeout() {
        return kept.get("subscriptionTimeout", 7500);
    }

    /** Without meaning here: connections are shared and opened at need. Kept so that configurations compile; default 5. */
    public T setSubscriptionsPerConnection(int subscriptionsPerConnection) {
        kept.put("subscriptionsPerConnection", subscriptionsPerConnection);
        return self();
    }

    /** What was set. */
    public int getSubscriptionsPerConnection() {
        return kept.get("subscriptionsPerConnection", 5);
    }

    /** Without meaning here: connections are shared and opened at need. Kept so that configurations compile; default 10000. */
    public T setIdleConnectionTimeout(int idleConnectionTimeout) {
        kept.put("idleConnectionTimeout", idleConnectionTimeout);
        return self();
    }

    /** What was set. */
    public int getIdleConnectionTimeout() {
        return kept.get("idleConnectionTimeout", 10000);
    }

    /** Without meaning here: connections are shared and opened at need. Kept so that configurations compile; default 30000. */
    public T setPingConnectionInterval(int pingConnectionInterval) {
        kept.put("pingConnectionInterval", pingConnectionInterval);
        return self();
    }

    /** What was set. */
    public int getPingConnectionInterval() {
        return kept.get("pingConnectionInterval", 30000);
    }

    /**
     * What names are on the server.
     *
     * @deprecated use {@link Config#setNameMapper}
     */
    @Deprecated
    public T setNameMapper(NameMapper nameMapper) {
        this.nameMapper = Objects.requireNonNull(nameMapper, "nameMapper can't be null");
        return self();
    }

    /**
     * What names are on the server.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public NameMapper getNameMapper() {
        return nameMapper;
    }

    /**
     * What the server's certificate must prove when the address asks for TLS; by default that a trusted authority has signed it for this
     * host.
     *
     * @deprecated use {@link Config#setSslVerificationMode}
     */
    @Deprecated
    public T setSslVerificationMode(SslVerificationMode sslVerificationMode) {
        kept.put("sslVerificationMode", sslVerificationMode);
        return self();
    }

    /**
     * What was set.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public SslVerificationMode getSslVerificationMode() {
        return kept.get("sslVerificationMode", SslVerificationMode.STRICT);
    }

    /**
     * Whether the server's certificate must be for its host; true by default.
     *
     * @deprecated use {@link Config#setSslVerificationMode}
     */
    @Deprecated
    public T setSslEnableEndpointIdentification(boolean sslEnableEndpointIdentification) {
        return setSslVerificationMode(sslEnableEndpointIdentification ? SslVerificationMode.STRICT : SslVerificationMode.CA_ONLY);
    }

    /**
     * Whether the server's certificate must be for its host.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public boolean isSslEnableEndpointIdentification() {
        return getSslVerificationMode() == SslVerificationMode.STRICT;
    }

    /**
     * Without meaning here: TLS is the native library's own. Kept so that configurations compile; default SslProvider.JDK.
     *
     * @deprecated use {@link Config#setSslProvider}
     */
    @Deprecated
    public T setSslProvider(SslProvider sslProvider) {
        kept.put("sslProvider", sslProvider);
        return self();
    }

    /**
     * What was set.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public SslProvider getSslProvider() {
        return kept.get("sslProvider", SslProvider.JDK);
    }

    /**
     * A key store (PKCS12 or JKS) with the authorities to trust; by default those of the system.
     *
     * @deprecated use {@link Config#setSslTruststore}
     */
    @Deprecated
    public T setSslTruststore(URL sslTruststore) {
        kept.put("sslTruststore", sslTruststore);
        return self();
    }

    /**
     * What was set.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public URL getSslTruststore() {
        return kept.get("sslTruststore", null);
    }

    /**
     * The password of the trust store; none by default.
     *
     * @deprecated use {@link Config#setSslTruststorePassword}
     */
    @Deprecated
    public T setSslTruststorePassword(String sslTruststorePassword) {
        kept.put("sslTruststorePassword", sslTruststorePassword);
        return self();
    }

    /**
     * What was set.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public String getSslTruststorePassword() {
        return kept.get("sslTruststorePassword", null);
    }

    /**
     * Only the default, null, can be had: trust is decided in the native library; name a trust store.
     *
     * @throws UnsupportedOperationException for anything else
     * @deprecated use {@link Config#setSslTrustManagerFactory}
     */
    @Deprecated
    public T setSslTrustManagerFactory(TrustManagerFactory sslTrustManagerFactory) {
        Unsupported.unless("sslTrustManagerFactory", sslTrustManagerFactory, null, Unsupported.TRUST);
        return self();
    }

    /**
     * null.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public TrustManagerFactory getSslTrustManagerFactory() {
        return null;
    }

    /**
     * A key store with the client's own certificate and key, where the server wants one; none by default.
     *
     * @deprecated use {@link Config#setSslKeystore}
     */
    @Deprecated
    public T setSslKeystore(URL sslKeystore) {
        kept.put("sslKeystore", sslKeystore);
        return self();
    }

    /**
     * What was set.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public URL getSslKeystore() {
        return kept.get("sslKeystore", null);
    }

    /**
     * The password of the key store and of its key; none by default.
     *
     * @deprecated use {@link Config#setSslKeystorePassword}
     */
    @Deprecated
    public T setSslKeystorePassword(String sslKeystorePassword) {
        kept.put("sslKeystorePassword", sslKeystorePassword);
        return self();
    }

    /**
     * What was set.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public String getSslKeystorePassword() {
        return kept.get("sslKeystorePassword", null);
    }

    /**
     * The type of both stores; by default PKCS12 or JKS, whichever it is.
     *
     * @deprecated use {@link Config#setSslKeystoreType}
     */
    @Deprecated
    public T setSslKeystoreType(String sslKeystoreType) {
        kept.put("sslKeystoreType", sslKeystoreType);
        return self();
    }

    /**
     * What was set.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public String getSslKeystoreType() {
        return kept.get("sslKeystoreType", null);
    }

    /**
     * Only the default, null, can be had: TLS is the native library's own; name a key store.
     *
     * @throws UnsupportedOperationException for anything else
     * @deprecated use {@link Config#setSslKeyManagerFactory}
     */
    @Deprecated
    public BaseConfig<T> setSslKeyManagerFactory(KeyManagerFactory sslKeyManagerFactory) {
        Unsupported.unless("sslKeyManagerFactory", sslKeyManagerFactory, null, Unsupported.CERTIFICATE);
        return self();
    }

    /**
     * null.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public KeyManagerFactory getSslKeyManagerFactory() {
        return null;
    }

    /**
     * Only the default, null, can be had: TLS is the native library's own, with the protocols and ciphers that it finds safe.
     *
     * @throws UnsupportedOperationException for anything else
     * @deprecated use {@link Config#setSslProtocols}
     */
    @Deprecated
    public T setSslProtocols(String[] sslProtocols) {
        Unsupported.unless("sslProtocols", sslProtocols, null, Unsupported.TLS);
        return self();
    }

    /**
     * null.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public String[] getSslProtocols() {
        return null;
    }

    /**
     * Only the default, null, can be had: TLS is the native library's own, with the protocols and ciphers that it finds safe.
     *
     * @throws UnsupportedOperationException for anything else
     * @deprecated use {@link Config#setSslCiphers}
     */
    @Deprecated
    public T setSslCiphers(String[] sslCiphers) {
        Unsupported.unless("sslCiphers", sslCiphers, null, Unsupported.TLS);
        return self();
    }

    /**
     * null.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public String[] getSslCiphers() {
        return null;
    }

    /**
     * Without meaning here: the native library sets up its sockets. Kept so that configurations compile; default false.
     *
     * @deprecated use {@link Config#setTcpKeepAlive}
     */
    @Deprecated
    public T setKeepAlive(boolean keepAlive) {
        kept.put("keepAlive", keepAlive);
        return self();
    }

    /**
     * What was set.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public boolean isKeepAlive() {
        return kept.get("keepAlive", false);
    }

    /**
     * Without meaning here: the native library sets up its sockets. Kept so that configurations compile; default 0.
     *
     * @deprecated use {@link Config#setTcpKeepAliveCount}
     */
    @Deprecated
    public T setTcpKeepAliveCount(int tcpKeepAliveCount) {
        kept.put("tcpKeepAliveCount", tcpKeepAliveCount);
        return self();
    }

    /**
     * What was set.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public int getTcpKeepAliveCount() {
        return kept.get("tcpKeepAliveCount", 0);
    }

    /**
     * Without meaning here: the native library sets up its sockets. Kept so that configurations compile; default 0.
     *
     * @deprecated use {@link Config#setTcpKeepAliveIdle}
     */
    @Deprecated
    public T setTcpKeepAliveIdle(int tcpKeepAliveIdle) {
        kept.put("tcpKeepAliveIdle", tcpKeepAliveIdle);
        return self();
    }

    /**
     * What was set.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public int getTcpKeepAliveIdle() {
        return kept.get("tcpKeepAliveIdle", 0);
    }

    /**
     * Without meaning here: the native library sets up its sockets. Kept so that configurations compile; default 0.
     *
     * @deprecated use {@link Config#setTcpKeepAliveInterval}
     */
    @Deprecated
    public T setTcpKeepAliveInterval(int tcpKeepAliveInterval) {
        kept.put("tcpKeepAliveInterval", tcpKeepAliveInterval);
        return self();
    }

    /**
     * What was set.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public int getTcpKeepAliveInterval() {
        return kept.get("tcpKeepAliveInterval", 0);
    }

    /**
     * Without meaning here: the native library sets up its sockets. Kept so that configurations compile; default 0.
     *
     * @deprecated use {@link Config#setTcpUserTimeout}
     */
    @Deprecated
    public T setTcpUserTimeout(int tcpUserTimeout) {
        kept.put("tcpUserTimeout", tcpUserTimeout);
        return self();
    }

    /**
     * What was set.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public int getTcpUserTimeout() {
        return kept.get("tcpUserTimeout", 0);
    }

    /**
     * Without meaning here: the native library sets up its sockets. Kept so that configurations compile; default true.
     *
     * @deprecated use {@link Config#setTcpNoDelay}
     */
    @Deprecated
    public T setTcpNoDelay(boolean tcpNoDelay) {
        kept.put("tcpNoDelay", tcpNoDelay);
        return self();
    }

    /**
     * What was set.
     *
     * @deprecated as the setter
     */
    @Deprecated
    public boolean isTcpNoDelay() {
        return kept.get("tcpNoDelay", true);
    }
}

package org.redisson.config;

import java.net.URL;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;

/**
 * The part of {@link Config} about TLS and sockets.
 *
 * @param <T> the configuration itself, for chaining
 */
abstract class TlsSettings<T extends Config> {
    final Kept kept = new Kept();

    abstract T self();

    /**
     * The proof that the server's certificate must give when the address asks for TLS; by default that a trusted authority has signed it for this
     * host.
     */
    public T setSslVerificationMode(SslVerificationMode sslVerificationMode) {
        kept.put("sslVerificationMode", sslVerificationMode);
        return self();
    }

    /** The value that was set. */
    public SslVerificationMode getSslVerificationMode() {
        return kept.get("sslVerificationMode", SslVerificationMode.STRICT);
    }

    /** A key store (PKCS12 or JKS) with the authorities to trust; by default those of the system. */
    public T setSslTruststore(URL sslTruststore) {
        kept.put("sslTruststore", sslTruststore);
        return self();
    }

    /** The value that was set. */
    public URL getSslTruststore() {
        return kept.get("sslTruststore", null);
    }

    /** The password of the trust store; none by default. */
    public T setSslTruststorePassword(String sslTruststorePassword) {
        kept.put("sslTruststorePassword", sslTruststorePassword);
        return self();
    }

    /** The value that was set. */
    public String getSslTruststorePassword() {
        return kept.get("sslTruststorePassword", null);
    }

    /** A key store with the client's own certificate and key, where the server wants one; none by default. */
    public T setSslKeystore(URL sslKeystore) {
        kept.put("sslKeystore", sslKeystore);
        return self();
    }

    /** The value that was set. */
    public URL getSslKeystore() {
        return kept.get("sslKeystore", null);
    }

    /** The password of the key store and of its key; none by default. */
    public T setSslKeystorePassword(String sslKeystorePassword) {
        kept.put("sslKeystorePassword", sslKeystorePassword);
        return self();
    }

    /** The value that was set. */
    public String getSslKeystorePassword() {
        return kept.get("sslKeystorePassword", null);
    }

    /** The type of both stores; by default PKCS12 or JKS, as the file is. */
    public T setSslKeystoreType(String sslKeystoreType) {
        kept.put("sslKeystoreType", sslKeystoreType);
        return self();
    }

    /** The value that was set. */
    public String getSslKeystoreType() {
        return kept.get("sslKeystoreType", null);
    }

    /** Without meaning here: TLS is the native library's own; default {@code JDK}. */
    public T setSslProvider(SslProvider sslProvider) {
        kept.idle("sslProvider", sslProvider);
        return self();
    }

    /** The value that was set. */
    public SslProvider getSslProvider() {
        return kept.get("sslProvider", SslProvider.JDK);
    }

    /**
     * Only the default, null, can be had: trust is decided in the native library; name a trust store.
     *
     * @throws UnsupportedOperationException for anything else
     */
    public T setSslTrustManagerFactory(TrustManagerFactory sslTrustManagerFactory) {
        Unsupported.unless("sslTrustManagerFactory", sslTrustManagerFactory, null, Unsupported.TRUST);
        return self();
    }

    /** null. */
    public TrustManagerFactory getSslTrustManagerFactory() {
        return null;
    }

    /**
     * Only the default, null, can be had: TLS is the native library's own; name a key store.
     *
     * @throws UnsupportedOperationException for anything else
     */
    public T setSslKeyManagerFactory(KeyManagerFactory sslKeyManagerFactory) {
        Unsupported.unless("sslKeyManagerFactory", sslKeyManagerFactory, null, Unsupported.CERTIFICATE);
        return self();
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
    public T setSslProtocols(String[] sslProtocols) {
        Unsupported.unless("sslProtocols", sslProtocols, null, Unsupported.TLS);
        return self();
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
    public T setSslCiphers(String[] sslCiphers) {
        Unsupported.unless("sslCiphers", sslCiphers, null, Unsupported.TLS);
        return self();
    }

    /** null. */
    public String[] getSslCiphers() {
        return null;
    }

    /** Without meaning here: the native library sets up its sockets; default true. */
    public T setTcpKeepAlive(boolean tcpKeepAlive) {
        kept.idle("tcpKeepAlive", tcpKeepAlive);
        return self();
    }

    /** The value that was set. */
    public boolean isTcpKeepAlive() {
        return kept.get("tcpKeepAlive", true);
    }

    /** Without meaning here: the native library sets up its sockets; default 0. */
    public T setTcpKeepAliveCount(int tcpKeepAliveCount) {
        kept.idle("tcpKeepAliveCount", tcpKeepAliveCount);
        return self();
    }

    /** The value that was set. */
    public int getTcpKeepAliveCount() {
        return kept.get("tcpKeepAliveCount", 0);
    }

    /** Without meaning here: the native library sets up its sockets; default 0. */
    public T setTcpKeepAliveIdle(int tcpKeepAliveIdle) {
        kept.idle("tcpKeepAliveIdle", tcpKeepAliveIdle);
        return self();
    }

    /** The value that was set. */
    public int getTcpKeepAliveIdle() {
        return kept.get("tcpKeepAliveIdle", 0);
    }

    /** Without meaning here: the native library sets up its sockets; default 0. */
    public T setTcpKeepAliveInterval(int tcpKeepAliveInterval) {
        kept.idle("tcpKeepAliveInterval", tcpKeepAliveInterval);
        return self();
    }

    /** The value that was set. */
    public int getTcpKeepAliveInterval() {
        return kept.get("tcpKeepAliveInterval", 0);
    }

    /** Without meaning here: the native library sets up its sockets; default 0. */
    public T setTcpUserTimeout(int tcpUserTimeout) {
        kept.idle("tcpUserTimeout", tcpUserTimeout);
        return self();
    }

    /** The value that was set. */
    public int getTcpUserTimeout() {
        return kept.get("tcpUserTimeout", 0);
    }

    /** Without meaning here: the native library sets up its sockets; default true. */
    public T setTcpNoDelay(boolean tcpNoDelay) {
        kept.idle("tcpNoDelay", tcpNoDelay);
        return self();
    }

    /** The value that was set. */
    public boolean isTcpNoDelay() {
        return kept.get("tcpNoDelay", true);
    }
}

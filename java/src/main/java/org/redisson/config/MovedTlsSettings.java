package org.redisson.config;

import java.net.URL;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;

/**
 * The TLS settings that servers had before {@link Config} had them. They hold where those are not set.
 *
 * @param <T> the configuration itself, for chaining
 */
abstract class MovedTlsSettings<T extends BaseConfig<T>> {
    final Kept kept = new Kept();

    abstract T self();

    /**
     * The proof that the server's certificate must give when the address asks for TLS; by default that a trusted authority has signed it for this
     * host.
     *
     * @deprecated use {@link Config#setSslVerificationMode}
     */
    @Deprecated
    public T setSslVerificationMode(SslVerificationMode sslVerificationMode) {
        kept.put("sslVerificationMode", sslVerificationMode);
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public SslVerificationMode getSslVerificationMode() {
        return kept.get("sslVerificationMode", SslVerificationMode.STRICT);
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

    /** @deprecated as the setter */
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

    /** @deprecated as the setter */
    @Deprecated
    public String getSslTruststorePassword() {
        return kept.get("sslTruststorePassword", null);
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

    /** @deprecated as the setter */
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

    /** @deprecated as the setter */
    @Deprecated
    public String getSslKeystorePassword() {
        return kept.get("sslKeystorePassword", null);
    }

    /**
     * The type of both stores; by default PKCS12 or JKS, as the file is.
     *
     * @deprecated use {@link Config#setSslKeystoreType}
     */
    @Deprecated
    public T setSslKeystoreType(String sslKeystoreType) {
        kept.put("sslKeystoreType", sslKeystoreType);
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public String getSslKeystoreType() {
        return kept.get("sslKeystoreType", null);
    }

    /**
     * Without meaning here: TLS is the native library's own; default {@code JDK}.
     *
     * @deprecated use {@link Config#setSslProvider}
     */
    @Deprecated
    public T setSslProvider(SslProvider sslProvider) {
        kept.idle("sslProvider", sslProvider);
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public SslProvider getSslProvider() {
        return kept.get("sslProvider", SslProvider.JDK);
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

    /** @deprecated as the setter */
    @Deprecated
    public TrustManagerFactory getSslTrustManagerFactory() {
        return null;
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

    /** @deprecated as the setter */
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

    /** @deprecated as the setter */
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

    /** @deprecated as the setter */
    @Deprecated
    public String[] getSslCiphers() {
        return null;
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

    /** @deprecated as the setter */
    @Deprecated
    public boolean isSslEnableEndpointIdentification() {
        return getSslVerificationMode() == SslVerificationMode.STRICT;
    }
}

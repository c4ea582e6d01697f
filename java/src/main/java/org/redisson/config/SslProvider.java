package org.redisson.config;

/** Who does TLS. */
public enum SslProvider {
    /** The JDK. */
    JDK,
    /** OpenSSL. */
    OPENSSL
}

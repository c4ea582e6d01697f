package org.redisson.config;

/** The library that does TLS. */
public enum SslProvider {
    /** The JDK. */
    JDK,
    /** OpenSSL. */
    OPENSSL
}

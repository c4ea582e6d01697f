package org.redisson.config;

/** The proof that a server's certificate must give. */
public enum SslVerificationMode {
    /** Nothing: a program between client and server can read and change everything. */
    NONE,
    /** That a trusted authority has signed it, for any host. */
    CA_ONLY,
    /** That a trusted authority has signed it, for the host that was asked for. */
    STRICT
}

package org.redisson.config;

/** What a server's certificate must prove. */
public enum SslVerificationMode {
    /** Nothing: whoever is on the way can read and change everything. */
    NONE,
    /** That a trusted authority has signed it, for whatever host. */
    CA_ONLY,
    /** That a trusted authority has signed it, for the host that was asked for. */
    STRICT
}

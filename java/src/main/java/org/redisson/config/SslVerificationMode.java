package org.redisson.config;

/** How the server's certificate is checked. */
public enum SslVerificationMode {
    /** Not at all. */
    NONE,
    /** Its authority. */
    CA_ONLY,
    /** Its authority and its host name. */
    STRICT
}

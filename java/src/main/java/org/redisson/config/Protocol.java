package org.redisson.config;

/** The version of the protocol. */
public enum Protocol {
    /** The one of Redis 1.2. */
    RESP2,
    /** The one of Redis 6. */
    RESP3
}

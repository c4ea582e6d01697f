package org.redisson.config;

/** An ability that a client announces to Valkey. */
public enum ValkeyCapability {
    /** Follow from a replica to its primary. */
    REDIRECT
}

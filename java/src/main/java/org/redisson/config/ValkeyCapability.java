package org.redisson.config;

/** What a client tells Valkey that it can. */
public enum ValkeyCapability {
    /** Follow from a replica to its primary. */
    REDIRECT
}

package org.redisson.config;

/** Whether the messages of a cluster stay on the node of their slot. */
public enum ShardedSubscriptionMode {
    /** They do where the servers support it. */
    AUTO,
    /** They do. */
    ON,
    /** They do not: every node hears every message. */
    OFF
}

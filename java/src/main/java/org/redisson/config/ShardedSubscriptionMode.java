package org.redisson.config;

/** Whether the messages of a cluster stay on the node of their slot. */
public enum ShardedSubscriptionMode {
    /** Where the servers can do it. */
    AUTO,
    /** Yes. */
    ON,
    /** No: every node hears every message. */
    OFF
}

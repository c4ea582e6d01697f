package org.redisson.config;

/** The servers that send messages. */
public enum SubscriptionMode {
    /** A replica. */
    SLAVE,
    /** The master. */
    MASTER
}

package org.redisson.config;

/** Whom to listen to. */
public enum SubscriptionMode {
    /** A replica. */
    SLAVE,
    /** The master. */
    MASTER
}

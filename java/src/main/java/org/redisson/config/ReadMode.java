package org.redisson.config;

/** The servers that answer reads. */
public enum ReadMode {
    /** Replicas. */
    SLAVE,
    /** The master. */
    MASTER,
    /** Both. */
    MASTER_SLAVE
}

package org.redisson.config;

/** Who answers reads. */
public enum ReadMode {
    /** Replicas. */
    SLAVE,
    /** The master. */
    MASTER,
    /** Both. */
    MASTER_SLAVE
}

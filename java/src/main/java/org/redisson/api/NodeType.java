package org.redisson.api;

/** The role of a server beside the others. */
public enum NodeType {
    /** It takes writes. */
    MASTER,
    /** It follows a master. */
    SLAVE,
    /** It names the master. */
    SENTINEL
}

package org.redisson.api;

/** What a server is to the others. */
public enum NodeType {
    /** It takes writes. */
    MASTER,
    /** It follows a master. */
    SLAVE,
    /** It names the master. */
    SENTINEL
}

package org.redisson.config;

/** How sockets are waited for. */
public enum TransportMode {
    /** As the JDK does. */
    NIO,
    /** By Linux's epoll. */
    EPOLL,
    /** By BSD's kqueue. */
    KQUEUE,
    /** By Linux's io_uring. */
    IO_URING
}

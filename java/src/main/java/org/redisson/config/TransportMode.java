package org.redisson.config;

/** How the library waits for sockets. */
public enum TransportMode {
    /** By the JDK. */
    NIO,
    /** By Linux's epoll. */
    EPOLL,
    /** By BSD's kqueue. */
    KQUEUE,
    /** By Linux's io_uring. */
    IO_URING
}

package org.redisson.command;

/**
 * No replica has confirmed in time what was taken, which is given back. Synchronous methods throw a
 * {@link org.redisson.client.RedisException} that has it as its cause.
 */
public class NoSyncedSlavesException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public NoSyncedSlavesException(String message) {
        super(message);
    }
}

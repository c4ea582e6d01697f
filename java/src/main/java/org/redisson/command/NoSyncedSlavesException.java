package org.redisson.command;

/** Kept so that programs compile; not thrown here: one server has no replicas that could confirm. */
public class NoSyncedSlavesException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** @param message what is so and what to do */
    public NoSyncedSlavesException(String message) {
        super(message);
    }
}

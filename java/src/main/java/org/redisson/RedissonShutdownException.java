package org.redisson;

import org.redisson.client.RedisException;

/** The client was shut down. */
public class RedissonShutdownException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedissonShutdownException(String message) {
        super(message);
    }
}

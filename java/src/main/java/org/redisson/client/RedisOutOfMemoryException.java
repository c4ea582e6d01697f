package org.redisson.client;

/** The server is full ({@code OOM}). */
public class RedisOutOfMemoryException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedisOutOfMemoryException(String message) {
        super(message);
    }
}

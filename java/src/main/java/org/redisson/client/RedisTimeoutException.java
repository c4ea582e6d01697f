package org.redisson.client;

/** The server did not answer in time. */
public class RedisTimeoutException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** Without a message. */
    public RedisTimeoutException() {}

    /** @param message the error and its remedy */
    public RedisTimeoutException(String message) {
        super(message);
    }
}

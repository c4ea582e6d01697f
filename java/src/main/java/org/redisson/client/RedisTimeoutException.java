package org.redisson.client;

/** The server did not answer in time. */
public class RedisTimeoutException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** @param message what is so and what to do */
    public RedisTimeoutException(String message) {
        super(message);
    }
}

package org.redisson.client;

/** The client sent a call, and repeated it, but the server did not answer in time. Whether the call took effect is unknown. */
public class RedisResponseTimeoutException extends RedisTimeoutException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedisResponseTimeoutException(String message) {
        super(message);
    }
}

package org.redisson.client;

/** The server cannot be reached. */
public class RedisConnectionException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** @param cause what led to this */
    public RedisConnectionException(Throwable cause) {
        super(cause);
    }

    /** @param message what is so and what to do */
    public RedisConnectionException(String message) {
        super(message);
    }

    /**
     * @param message what is so and what to do
     * @param cause what led to this
     */
    public RedisConnectionException(String message, Throwable cause) {
        super(message, cause);
    }
}

package org.redisson.client;

/** The server cannot be reached. */
public class RedisConnectionException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** @param cause the error behind this one */
    public RedisConnectionException(Throwable cause) {
        super(cause);
    }

    /** @param message the error and its remedy */
    public RedisConnectionException(String message) {
        super(message);
    }

    /**
     * @param message the error and its remedy
     * @param cause the error behind this one
     */
    public RedisConnectionException(String message, Throwable cause) {
        super(message, cause);
    }
}

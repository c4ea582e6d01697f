package org.redisson.client;

/** Kept so that programs compile; not thrown here: a call that could not be written is sent again. */
public class WriteRedisConnectionException extends RedisConnectionException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public WriteRedisConnectionException(String message) {
        super(message);
    }

    /**
     * @param message the error and its remedy
     * @param cause the error behind this one
     */
    public WriteRedisConnectionException(String message, Throwable cause) {
        super(message, cause);
    }
}

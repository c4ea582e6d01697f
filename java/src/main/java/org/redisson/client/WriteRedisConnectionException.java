package org.redisson.client;

/** Kept so that programs compile; not thrown here: a call that could not be written is sent again. */
public class WriteRedisConnectionException extends RedisConnectionException {
    private static final long serialVersionUID = 1L;

    /** @param message what is so and what to do */
    public WriteRedisConnectionException(String message) {
        super(message);
    }

    /**
     * @param message what is so and what to do
     * @param cause what led to this
     */
    public WriteRedisConnectionException(String message, Throwable cause) {
        super(message, cause);
    }
}

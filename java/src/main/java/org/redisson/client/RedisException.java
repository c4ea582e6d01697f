package org.redisson.client;

/** Redis said no, or could not be asked. The exceptions below it say which. */
public class RedisException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Without a message. */
    public RedisException() {}

    /** @param cause what led to this */
    public RedisException(Throwable cause) {
        super(cause);
    }

    /**
     * @param message what is so and what to do
     * @param cause what led to this
     */
    public RedisException(String message, Throwable cause) {
        super(message, cause);
    }

    /** @param message what is so and what to do */
    public RedisException(String message) {
        super(message);
    }
}

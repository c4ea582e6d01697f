package org.redisson.client;

/** The server refused a call, or the client could not reach it. The subclasses say which. */
public class RedisException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Without a message. */
    public RedisException() {}

    /** @param cause the error behind this one */
    public RedisException(Throwable cause) {
        super(cause);
    }

    /**
     * @param message the error and its remedy
     * @param cause the error behind this one
     */
    public RedisException(String message, Throwable cause) {
        super(message, cause);
    }

    /** @param message the error and its remedy */
    public RedisException(String message) {
        super(message);
    }
}

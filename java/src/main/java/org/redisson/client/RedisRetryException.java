package org.redisson.client;

/** The server refuses for now. The subclasses say why; a later try may succeed. */
public class RedisRetryException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedisRetryException(String message) {
        super(message);
    }
}

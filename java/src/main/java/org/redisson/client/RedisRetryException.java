package org.redisson.client;

/** The server refuses for now. The exceptions below it say why; a later try may succeed. */
public class RedisRetryException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** @param message what is so and what to do */
    public RedisRetryException(String message) {
        super(message);
    }
}

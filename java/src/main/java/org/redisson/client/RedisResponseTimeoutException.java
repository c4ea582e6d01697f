package org.redisson.client;

/** A call was sent, also again, and no answer came in time. Whether it took effect is unknown. */
public class RedisResponseTimeoutException extends RedisTimeoutException {
    private static final long serialVersionUID = 1L;

    /** @param message what is so and what to do */
    public RedisResponseTimeoutException(String message) {
        super(message);
    }
}

package org.redisson.client;

/** Kept so that programs compile; not thrown here: there is one server. */
public class RedisNodeNotFoundException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** @param message what is so and what to do */
    public RedisNodeNotFoundException(String message) {
        super(message);
    }
}

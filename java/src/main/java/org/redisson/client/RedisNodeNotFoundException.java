package org.redisson.client;

/** Kept so that programs compile; not thrown here: there is one server. */
public class RedisNodeNotFoundException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedisNodeNotFoundException(String message) {
        super(message);
    }
}

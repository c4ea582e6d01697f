package org.redisson.client;

/** Kept so that programs compile; not thrown here: a call whose connection was lost is sent again until its outcome is known. */
public class RedisReconnectedException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedisReconnectedException(String message) {
        super(message);
    }
}

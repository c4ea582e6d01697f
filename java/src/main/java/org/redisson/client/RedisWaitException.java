package org.redisson.client;

/** Kept so that programs compile; not thrown here: one server has no replicas to wait for. */
public class RedisWaitException extends RedisRetryException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedisWaitException(String message) {
        super(message);
    }
}

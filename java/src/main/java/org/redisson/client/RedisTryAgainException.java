package org.redisson.client;

/** The server asks to try again ({@code TRYAGAIN}). */
public class RedisTryAgainException extends RedisRetryException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedisTryAgainException(String message) {
        super(message);
    }
}

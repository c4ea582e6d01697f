package org.redisson.client;

/** The server is a replica that lost its master ({@code MASTERDOWN}). */
public class RedisMasterDownException extends RedisRetryException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedisMasterDownException(String message) {
        super(message);
    }
}

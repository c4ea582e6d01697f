package org.redisson.client;

/** The server is still loading its data ({@code LOADING}). */
public class RedisLoadingException extends RedisRetryException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedisLoadingException(String message) {
        super(message);
    }
}

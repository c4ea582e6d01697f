package org.redisson.client;

/** The server wants a password and was given none ({@code NOAUTH}). */
public class RedisAuthRequiredException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedisAuthRequiredException(String message) {
        super(message);
    }
}

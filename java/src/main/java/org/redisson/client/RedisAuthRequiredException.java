package org.redisson.client;

/** The server wants a password and was given none ({@code NOAUTH}). */
public class RedisAuthRequiredException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** @param message what is so and what to do */
    public RedisAuthRequiredException(String message) {
        super(message);
    }
}

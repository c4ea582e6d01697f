package org.redisson.client;

/** The server knows no such user with that password ({@code WRONGPASS}). */
public class RedisWrongPasswordException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** @param message what is so and what to do */
    public RedisWrongPasswordException(String message) {
        super(message);
    }
}

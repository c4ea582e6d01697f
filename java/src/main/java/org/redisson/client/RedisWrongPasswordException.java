package org.redisson.client;

/** The server knows no such user with that password ({@code WRONGPASS}). */
public class RedisWrongPasswordException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedisWrongPasswordException(String message) {
        super(message);
    }
}

package org.redisson.client;

/** The server is a replica and takes no writes ({@code READONLY}). */
public class RedisReadonlyException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedisReadonlyException(String message) {
        super(message);
    }
}

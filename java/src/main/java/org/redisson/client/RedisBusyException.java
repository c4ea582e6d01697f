package org.redisson.client;

/** The server is busy with a script and takes no other call ({@code BUSY}). */
public class RedisBusyException extends RedisRetryException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedisBusyException(String message) {
        super(message);
    }
}

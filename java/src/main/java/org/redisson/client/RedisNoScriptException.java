package org.redisson.client;

/** Kept so that programs compile; not thrown here: a script that the server does not know is sent whole. */
public class RedisNoScriptException extends RedisException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedisNoScriptException(String message) {
        super(message);
    }
}

package org.redisson.client;

/** The server has too few replicas to take writes ({@code NOREPLICAS}). */
public class RedisNoReplicasException extends RedisRetryException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedisNoReplicasException(String message) {
        super(message);
    }
}

package org.redisson.client;

/** The server has too few replicas to take writes ({@code NOREPLICAS}). */
public class RedisNoReplicasException extends RedisRetryException {
    private static final long serialVersionUID = 1L;

    /** @param message what is so and what to do */
    public RedisNoReplicasException(String message) {
        super(message);
    }
}

package org.redisson.client;

/** The server is a node of a cluster that is down ({@code CLUSTERDOWN}). */
public class RedisClusterDownException extends RedisRetryException {
    private static final long serialVersionUID = 1L;

    /** @param message the error and its remedy */
    public RedisClusterDownException(String message) {
        super(message);
    }
}

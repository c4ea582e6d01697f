package org.redisson.connection.balancer;

/** Any replica. */
public class RandomLoadBalancer extends BaseLoadBalancer {
    /** There is nothing to set. */
    public RandomLoadBalancer() {}
}

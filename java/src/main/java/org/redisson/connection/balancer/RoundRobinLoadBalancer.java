package org.redisson.connection.balancer;

/** Each replica in turn. */
public class RoundRobinLoadBalancer extends BaseLoadBalancer {
    /** There is nothing to set. */
    public RoundRobinLoadBalancer() {}
}

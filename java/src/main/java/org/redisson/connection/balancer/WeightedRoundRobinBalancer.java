package org.redisson.connection.balancer;

import java.util.Map;

/** Each replica in turn, some more often than others. */
public class WeightedRoundRobinBalancer implements LoadBalancer {
    /**
     * @param weights by address
     * @param defaultWeight of all others
     */
    public WeightedRoundRobinBalancer(Map<String, Integer> weights, int defaultWeight) {}
}

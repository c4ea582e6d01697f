package org.redisson.connection.balancer;

/** The base of most balancers. */
public abstract class BaseLoadBalancer implements LoadBalancer {
    private String regex;

    /** Every replica may be chosen. */
    protected BaseLoadBalancer() {}

    /** Only replicas with such an address. */
    public void setRegex(String value) {
        regex = value;
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + (regex == null ? "" : "(" + regex + ")");
    }
}

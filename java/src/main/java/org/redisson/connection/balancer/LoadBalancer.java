package org.redisson.connection.balancer;

/** Which replica answers a read. A name only: locks never read from a replica what must be true, and nothing is to be implemented. */
public interface LoadBalancer {}

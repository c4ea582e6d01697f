package org.redisson;

/** The lock that a thread must not acquire twice. */
public class RedissonNonReentrantLock extends RedissonLock {
    RedissonNonReentrantLock(Place place) {
        super(place, "non_reentrant");
    }
}

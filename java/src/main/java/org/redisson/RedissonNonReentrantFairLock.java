package org.redisson;

/** The fair lock that a thread must not acquire twice. */
public class RedissonNonReentrantFairLock extends RedissonFairLock {
    RedissonNonReentrantFairLock(Place place) {
        super(place, "non_reentrant_fair");
    }
}

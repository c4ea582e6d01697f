package org.redisson;

/** The reentrant lock that whoever has waited longest gets next. */
public class RedissonFairLock extends RedissonLock {
    RedissonFairLock(Place place) {
        super(place, "fair");
    }
}

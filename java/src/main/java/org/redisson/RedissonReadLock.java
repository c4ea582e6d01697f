package org.redisson;

/** The half that any number of threads hold at once, as long as no other thread writes. */
public class RedissonReadLock extends RedissonLock {
    RedissonReadLock(Place place) {
        super(place, "read");
    }
}

package org.redisson;

/** The half that any number of threads hold at once, as long as no other thread writes. */
public class RedissonReadLock extends RedissonLock {
    static final String KIND = "read";

    RedissonReadLock(Place place) {
        super(place, KIND);
    }
}

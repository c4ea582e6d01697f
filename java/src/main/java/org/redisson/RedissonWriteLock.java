package org.redisson;

/** The half that one thread holds while no other thread reads or writes. */
public class RedissonWriteLock extends RedissonLock {
    RedissonWriteLock(Place place) {
        super(place, "write");
    }
}

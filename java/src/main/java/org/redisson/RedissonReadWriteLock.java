package org.redisson;

import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;

/** Two locks of one name: many threads may read, or one may write. */
public class RedissonReadWriteLock implements RReadWriteLock {
    private final Place place;

    RedissonReadWriteLock(Place place) {
        place.core.require(RedissonReadLock.KIND);
        this.place = place;
    }

    @Override
    public RLock readLock() {
        return new RedissonReadLock(place);
    }

    @Override
    public RLock writeLock() {
        return new RedissonWriteLock(place);
    }
}

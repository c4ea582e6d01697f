package org.redisson.api;

/** Two locks of one name: many owners may read, or one may write, for Reactor: the locks of {@link RReadWriteLock}. */
public interface RReadWriteLockReactive {
    /** As {@link RReadWriteLock#readLock()}. */
    RLockReactive readLock();

    /** As {@link RReadWriteLock#writeLock()}. */
    RLockReactive writeLock();
}

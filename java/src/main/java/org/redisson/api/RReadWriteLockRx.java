package org.redisson.api;

/** Two locks of one name: many owners may read, or one may write, for RxJava: the locks of {@link RReadWriteLock}. */
public interface RReadWriteLockRx {
    /** As {@link RReadWriteLock#readLock()}. */
    RLockRx readLock();

    /** As {@link RReadWriteLock#writeLock()}. */
    RLockRx writeLock();
}

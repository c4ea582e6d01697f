package org.redisson.api;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * Two locks of one name: many threads may read, or one may write.
 *
 * <p>A writer may read as well, and goes on reading when it releases the write lock. A reader must not ask to write: it would wait for itself
 * without an end, so that is an {@link IllegalMonitorStateException}.
 */
public interface RReadWriteLock extends ReadWriteLock {
    /** The lock for reading. */
    @Override
    RLock readLock();

    /** The lock for writing. */
    @Override
    RLock writeLock();
}

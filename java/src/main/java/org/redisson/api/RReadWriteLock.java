package org.redisson.api;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * Two locks of one name: many threads may read, or one may write.
 *
 * <p>Who writes may read as well, and goes on reading when it releases the other. Who reads must not ask to write: a wait without an end
 * would be one for itself, and is an {@link IllegalMonitorStateException}.
 */
public interface RReadWriteLock extends ReadWriteLock {
    /** The lock for reading. */
    @Override
    RLock readLock();

    /** The lock for writing. */
    @Override
    RLock writeLock();
}

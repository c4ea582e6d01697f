package io.redlatch;

import io.redlatch.internal.ClassPath;
import io.redlatch.internal.HoldSource;
import org.redisson.api.RLock;

/**
 * The holder's view of its hold, which Redisson does not offer:
 *
 * <pre>{@code
 * lock.lock();
 * Hold hold = Holds.of(lock);
 * hold.onLost(loss -> worker.interrupt());
 * ...
 * hold.ensure(); // before what must not happen twice
 * }</pre>
 */
public final class Holds {
    private Holds() {}

    /**
     * The latest hold that the calling thread has of {@code lock}. The server is not asked.
     *
     * @throws IllegalMonitorStateException if it has none
     * @throws IllegalArgumentException if {@code lock} was not made by this library
     * @throws ClassPathConflictException if that is because Redisson itself is on the class path as well
     */
    public static Hold of(RLock lock) {
        return of(lock, Thread.currentThread().getId());
    }

    /** The latest hold that {@code threadId} has of {@code lock}; otherwise as {@link #of(RLock)}. */
    public static Hold of(RLock lock, long threadId) {
        return source(lock).holdOf(threadId).seenBy(Hold::new);
    }

    static HoldSource source(RLock lock) {
        if (!(lock instanceof HoldSource)) {
            ClassPath.check(Holds.class); // Redisson's jar comes first, so that its classes are the ones in use
            throw new IllegalArgumentException(lock + " knows nothing of its holds; use a lock of a client of this library, unwrapped");
        }
        return (HoldSource) lock;
    }
}

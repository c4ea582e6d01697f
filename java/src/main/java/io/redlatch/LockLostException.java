package io.redlatch;

/**
 * A hold ended before it was released: its lease ran out, its key was deleted, or somebody else has the lock.
 *
 * <p>It is the cause of the {@link IllegalMonitorStateException} of an {@code unlock} that comes too late. Its message names the
 * lock, the reason and the time line. What the lock guarded may have been done twice.
 */
public final class LockLostException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** @param message the lock, the reason and the time line */
    public LockLostException(String message) {
        super(message);
    }
}

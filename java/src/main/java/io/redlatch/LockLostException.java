package io.redlatch;

/**
 * A hold ended before it was released: its lease ran out, its key was deleted, or another owner has the lock.
 *
 * <p>It is the cause of the {@link IllegalMonitorStateException} of an {@code unlock} that comes too late, and {@link Hold} tells of it.
 * Its message names the lock, the reason and the time line. The guarded work may have been done twice.
 */
public final class LockLostException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final LostReason reason;

    /** The library throws it. A test of an application may make one to see what the application does about a loss. */
    public LockLostException(String message, LostReason reason) {
        super(message);
        this.reason = reason;
    }

    /** Why the hold ended. */
    public LostReason reason() {
        return reason;
    }
}

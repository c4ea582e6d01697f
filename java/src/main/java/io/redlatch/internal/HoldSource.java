package io.redlatch.internal;

/** A lock that knows its holds. */
public interface HoldSource {
    /**
     * The latest hold of {@code threadId}. The server is not asked.
     *
     * @throws IllegalMonitorStateException if there is none
     */
    KnownHold holdOf(long threadId);

    /**
     * Releases exactly this hold and waits for it, through interrupts. A fair lock, whose {@code unlock} returns if the lock is
     * free, throws here as every other kind does.
     *
     * @throws IllegalMonitorStateException if it has ended; a {@link io.redlatch.LockLostException} is its cause if it was lost
     */
    void giveBack(KnownHold hold);

    /** The work that gives the latest hold of {@code threadId} back. It waits for no answer, and needs no memory. */
    Runnable undoing(long threadId);
}

package io.redlatch.internal;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

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

    /**
     * Acquires for an owner that is no thread and holds nothing else.
     *
     * @param wait in ms; 0 or less tries once
     * @param lease in ms; 0 or less is renewed
     * @param view turns the hold into the result; null: the wait was in vain
     * @return the future of the request; an end from outside, such as a cancellation, gives the request up
     */
    <V> CompletableFuture<V> takeAsync(long wait, long lease, Function<KnownHold, V> view);

    /** As {@link #giveBack}, without waiting for it. */
    CompletableFuture<Void> giveBackAsync(KnownHold hold);

    /** The work that gives the latest hold of {@code threadId} back. It waits for no answer, and needs no memory. */
    Runnable undoing(long threadId);
}

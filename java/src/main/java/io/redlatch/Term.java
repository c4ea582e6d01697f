package io.redlatch;

import io.redlatch.internal.KnownHold;
import io.redlatch.internal.LeaderSource;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** A term in which this process leads, until it resigns or loses the lock, see {@link Leader#lead}. Losing and leading again are two terms. */
public final class Term implements AutoCloseable {
    private final LeaderSource source;
    private final KnownHold known;
    private final Hold hold;
    private final AtomicBoolean closed = new AtomicBoolean();

    Term(LeaderSource source, KnownHold known) {
        this.source = source;
        this.known = known;
        this.hold = known.seenBy(Hold::new);
    }

    /** The number of this term, greater than those of all terms before: a store can refuse a leader that was paused and is behind. */
    public long token() {
        return known.token();
    }

    /** The hold of the leader's lock: whether it is lost, its deadline, and news of its loss. */
    public Hold hold() {
        return hold;
    }

    /**
     * Goes on only while this process leads, as {@link Hold#ensure}.
     *
     * @throws LockLostException if the term was lost
     * @throws IllegalMonitorStateException if this process has resigned
     */
    public void ensure() {
        hold.ensure();
    }

    /** Calls {@code listener} when the term is lost, or soon if it is already, on another thread. */
    public void onLost(Consumer<? super LockLostException> listener) {
        hold.onLost(listener);
    }

    /**
     * Resigns; the second time does nothing. Any thread may do it, at any time.
     *
     * @throws LockLostException if the term was lost before
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        try {
            source.resign(known);
        } catch (IllegalMonitorStateException e) {
            throw e.getCause() instanceof LockLostException ? (LockLostException) e.getCause() : e;
        }
    }
}

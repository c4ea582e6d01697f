package io.redlatch;

import io.redlatch.internal.Answer;
import io.redlatch.internal.LeaderSource;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/** Tells who leads, and each change of that, see {@link Leader#observe}. Its caller stops when it wants: there is nothing to close. */
public final class Observer {
    private static final byte[] NOTHING = {};

    private final LeaderSource source;
    /** No monitor: a virtual thread that waits in one keeps its carrier, and no interrupt ends a wait for one. */
    private final ReentrantLock asking = new ReentrantLock();
    /** The text of the last answer for the next question. */
    private byte[] seen = NOTHING;

    Observer(LeaderSource source) {
        this.source = source;
    }

    /**
     * The first call tells who leads now; each later one waits until another process leads than at the call before, or none. States that came and
     * went since the last call are left out. Other threads that call it meanwhile wait for this one.
     *
     * @throws InterruptedException if the thread is interrupted before or while it waits; the next call misses nothing
     */
    public Optional<CurrentLeader> next() throws InterruptedException {
        asking.lockInterruptibly();
        try {
            Answer told = source.next(seen);
            seen = told.texts().get(0);
            // The text of a state without a holder begins with the space before its token.
            return seen[0] == ' ' ? Optional.empty() : Optional.of(Leader.leader(told.number(), told.texts()));
        } finally {
            asking.unlock();
        }
    }
}

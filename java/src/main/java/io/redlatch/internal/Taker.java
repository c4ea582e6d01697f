package io.redlatch.internal;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Decides, at the moment of an answer that brings a hold or permits, whether its caller takes it. A caller that may give up on another thread, before it has the future of its request,
 * cannot do so by cancelling the future: either it takes the answer or it has given up, and never both.
 */
public final class Taker {
    private enum State { IDLE, ASKING, TAKEN, GIVEN_UP }

    /** Of the requests that this thread makes now. */
    private static final ThreadLocal<Taker> CURRENT = new ThreadLocal<>();

    private final AtomicReference<State> state = new AtomicReference<>(State.IDLE);

    /** That of the request which this thread makes now. Null: its answer is taken. */
    public static Taker current() {
        return CURRENT.get();
    }

    /** The caller begins to ask. False: it has begun before, or has given up. */
    boolean begin() {
        return state.compareAndSet(State.IDLE, State.ASKING);
    }

    /** Makes the caller's requests; their answers are taken only if this says so. */
    <V> V ask(Callable<V> requests) throws Exception {
        CURRENT.set(this);
        try {
            return requests.call();
        } finally {
            CURRENT.remove();
        }
    }

    /** Whether the caller takes the answer that is there. Once it does, it takes the rest as well. */
    public boolean takes() {
        return state.compareAndSet(State.ASKING, State.TAKEN) || state.get() == State.TAKEN;
    }

    /** The caller gives up. False: it has taken the answer, or has given up before. */
    boolean giveUp() {
        return state.compareAndSet(State.IDLE, State.GIVEN_UP) || state.compareAndSet(State.ASKING, State.GIVEN_UP);
    }

    /** Whether the caller has taken the answer or has given up. */
    boolean isOver() {
        return state.get() == State.TAKEN || hasGivenUp();
    }

    boolean hasGivenUp() {
        return state.get() == State.GIVEN_UP;
    }
}

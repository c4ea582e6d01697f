package io.redlatch.internal;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A request of a subscriber, of whichever library. The subscriber gets the answer, or has cancelled: never both. */
public abstract class Asking {
    private final Taker taker = new Taker();
    /** Null: there is no request yet. */
    private volatile CompletableFuture<?> asked;

    /** Makes the request, unless it was made before or is given up. {@code call} gives its stage. */
    public final void ask(Callable<? extends CompletionStage<?>> call) {
        if (!taker.begin()) {
            return;
        }
        try {
            asked = taker.ask(() -> call.call().toCompletableFuture());
        } catch (Exception e) {
            fail(e);
            return;
        }
        if (taker.hasGivenUp()) { // meanwhile
            asked.cancel(true);
        }
        asked.whenComplete((value, error) -> {
            if (error != null) {
                fail(Stages.bare(error));
            } else if (taker.takes()) {
                succeeded(value);
            }
        });
    }

    private void fail(Throwable error) {
        if (taker.takes()) {
            failed(error);
        }
    }

    /** Gives the request up. The subscriber may do so at any moment, and again. */
    public final void cancel() {
        boolean isFirst = taker.giveUp();
        CompletableFuture<?> request = asked;
        if (isFirst && request != null) {
            request.cancel(true);
        }
    }

    /** Whether the subscriber has its answer or has cancelled. */
    public final boolean isOver() {
        return taker.isOver();
    }

    /** Hands the answer over; it may be null. */
    protected abstract void succeeded(Object value);

    /** Hands the error over. */
    protected abstract void failed(Throwable error);
}

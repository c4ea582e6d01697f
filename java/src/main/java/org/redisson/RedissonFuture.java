package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Core;
import io.redlatch.internal.Request;
import io.redlatch.internal.Stages;
import io.redlatch.internal.Taker;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.redisson.api.RFuture;

/** The future of one request. A caller that completes it, cancels it or lets it time out gives the request up. */
final class RedissonFuture<V> extends CompletableFuture<V> implements RFuture<V> {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** Null: the caller takes the answer. */
    private final Taker taker = Taker.current();
    private volatile boolean answered;
    /** Of its own: an application may hold the monitor of the future. */
    private final Object monitor = new Object();
    /** The client that was asked last, and the ticket of that; guarded by the monitor. */
    private Core asked;
    private long ticket;

    private RedissonFuture() {}

    /** @param decode turns the answer into the result, or throws the exception of the future */
    static <V> RFuture<V> submit(Core core, Request request, Function<Answer, V> decode) {
        return submit(core, request, decode, value -> { });
    }

    /** @param untaken undoes what {@code decode} did, where the caller does not take the result */
    static <V> RFuture<V> submit(Core core, Request request, Function<Answer, V> decode, Consumer<V> untaken) {
        RedissonFuture<V> future = cancellable();
        // Last: the caller has to get the future then.
        future.sent(core, core.submit(request, answer -> future.settle(request, answer, decode, untaken)));
        return future;
    }

    /** As {@link #submit(Core, Request, Function)}, of as many groups as it takes. */
    static <V> RFuture<V> submit(Regrouping call, Function<Answer, V> decode) {
        RedissonFuture<V> future = cancellable();
        future.send(call, decode);
        return future;
    }

    private static <V> RedissonFuture<V> cancellable() {
        RedissonFuture<V> future = new RedissonFuture<>();
        future.whenComplete((value, error) -> {
            if (!future.answered) {
                future.cancelRequest();
            }
        });
        return future;
    }

    private void send(Regrouping call, Function<Answer, V> decode) {
        Core core = call.group();
        sent(core, core.submit(call.request(), answer -> answered(call, answer, decode)));
    }

    private boolean answered(Regrouping call, Answer answer, Function<Answer, V> decode) {
        try {
            if (!isDone() && call.goesOnAfter(answer)) {
                send(call, decode);
                if (isDone()) { // perhaps before the new request could be cancelled
                    cancelRequest();
                }
                return false;
            }
        } catch (RuntimeException e) {
            answered = true;
            return completeExceptionally(e);
        } catch (Error e) { // of the JVM, for want of memory
            answered = true;
            fail(e);
            return false;
        }
        return settle(call.request(), answer, decode, value -> { });
    }

    /** Notes a request, unless its answer was there first and another request has followed. */
    private void sent(Core core, long number) {
        synchronized (monitor) {
            if (number > ticket) {
                asked = core;
                ticket = number;
            }
        }
    }

    private void cancelRequest() {
        synchronized (monitor) {
            if (asked != null) {
                asked.cancel(ticket);
            }
        }
    }

    /** A future that is done, with null. */
    static <V> RFuture<V> completed() {
        return completed(null);
    }

    /** A future that is done, with that value. */
    static <V> RFuture<V> completed(V value) {
        RedissonFuture<V> future = new RedissonFuture<>();
        future.complete(value);
        return future;
    }

    /** A future of this API that completes as another one does. */
    static <V> RFuture<V> of(CompletableFuture<V> other) {
        RedissonFuture<V> future = new RedissonFuture<>();
        future.answered = true;
        other.whenComplete((value, error) -> {
            if (error == null) {
                future.complete(value);
            } else {
                future.completeExceptionally(Stages.bare(error));
            }
        });
        return future;
    }

    /** A future that has failed. */
    static <V> RFuture<V> failed(RuntimeException error) {
        RedissonFuture<V> future = new RedissonFuture<>();
        future.answered = true;
        future.completeExceptionally(error);
        return future;
    }

    /** False: the caller does not take the answer, because it completed the future before, or for want of memory. */
    private boolean settle(Request request, Answer answer, Function<Answer, V> decode, Consumer<V> untaken) {
        answered = true;
        V value;
        try {
            value = decode.apply(answer);
        } catch (RuntimeException e) {
            return completeExceptionally(Failures.bare(e));
        } catch (Error e) { // of the JVM, for want of memory
            fail(e);
            return false;
        }
        try {
            boolean taken = (taker == null || !request.brings(answer) || taker.takes()) && complete(value);
            if (!taken) {
                untaken.accept(value);
            }
            return taken;
        } catch (Error e) { // of a continuation, for want of memory: it is the caller's already
            return !isCompletedExceptionally();
        }
    }

    /** Repeats it until the JVM has the memory for it: a thread may wait for this. */
    private void fail(Error error) {
        while (!isDone()) {
            try {
                completeExceptionally(error);
            } catch (OutOfMemoryError e) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }
}

package io.redlatch.beside;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.redisson.api.RFuture;
import org.redisson.misc.CompletableFutureWrapper;

/** A future of ours behind Redisson's types. It ends only with ours: cancelling it cancels that, which gives the request up. */
final class LentFuture extends CompletableFuture<Object> {
    private final CompletableFuture<Object> ours;

    private LentFuture(CompletableFuture<Object> ours) {
        this.ours = ours;
    }

    static RFuture<Object> of(CompletionStage<?> stage, Exchange exchange) {
        return of(stage, exchange, value -> { });
    }

    /** @param first sees the value before the caller does */
    static RFuture<Object> of(CompletionStage<?> stage, Exchange exchange, Consumer<Object> first) {
        @SuppressWarnings("unchecked") // a caller that completes it gives what it expects itself
        CompletableFuture<Object> ours = (CompletableFuture<Object>) stage.toCompletableFuture();
        LentFuture lent = new LentFuture(ours);
        ours.whenComplete((value, error) -> lent.end(value, error, exchange, first));
        return new CompletableFutureWrapper<>((CompletableFuture<Object>) lent);
    }

    private void end(Object value, Throwable error, Exchange exchange, Consumer<Object> first) {
        if (error != null) {
            super.completeExceptionally(Errors.theirs(error));
            return;
        }
        try {
            first.accept(value);
            super.complete(exchange.across(value));
        } catch (RuntimeException e) {
            super.completeExceptionally(e);
        }
    }

    @Override
    public boolean complete(Object value) {
        return ours.complete(value);
    }

    @Override
    public boolean completeExceptionally(Throwable error) {
        return ours.completeExceptionally(error);
    }

    @Override
    public boolean cancel(boolean mayInterrupt) {
        return ours.cancel(mayInterrupt);
    }
}

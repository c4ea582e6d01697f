package org.redisson.api;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;

/**
 * A result that is still to come.
 *
 * <p>Cancelling it gives the request up; a lock that is acquired all the same is given back. Continuations run on threads of this
 * library that may be blocked, or on the thread that attaches them. The deprecated methods are those of Redisson 3, which 4 has not.
 *
 * @param <V> the result
 */
public interface RFuture<V> extends Future<V>, CompletionStage<V> {
    /** @deprecated true once there is a result; use {@link #whenComplete} */
    @Deprecated
    default boolean isSuccess() {
        CompletableFuture<V> future = toCompletableFuture();
        return future.isDone() && !future.isCompletedExceptionally();
    }

    /** @deprecated why there is no result, or null; use {@link #whenComplete} */
    @Deprecated
    default Throwable cause() {
        if (!isDone() || isSuccess()) {
            return null;
        }
        try {
            toCompletableFuture().join();
            return null;
        } catch (CompletionException e) {
            return e.getCause();
        } catch (CancellationException e) {
            return e;
        }
    }

    /** @deprecated the result, null if it is still to come; use {@link CompletableFuture#getNow} */
    @Deprecated
    default V getNow() {
        return toCompletableFuture().getNow(null);
    }

    /** @deprecated as {@link CompletableFuture#join} */
    @Deprecated
    default V join() {
        return toCompletableFuture().join();
    }

    /** @deprecated waits so long; true if it is done then; use {@link Future#get(long, TimeUnit)} */
    @Deprecated
    default boolean await(long timeout, TimeUnit unit) throws InterruptedException {
        try {
            get(timeout, unit);
        } catch (ExecutionException e) {
            return true;
        } catch (TimeoutException e) {
            return false;
        }
        return true;
    }

    /** @deprecated as {@link #await(long, TimeUnit)}, in ms */
    @Deprecated
    default boolean await(long timeoutMillis) throws InterruptedException {
        return await(timeoutMillis, TimeUnit.MILLISECONDS);
    }

    /** @deprecated waits until it is done, and throws what it failed with; use {@link Future#get()} */
    @Deprecated
    default RFuture<V> sync() throws InterruptedException {
        await();
        return syncUninterruptibly();
    }

    /** @deprecated as {@link #sync}, through interrupts; use {@link CompletableFuture#join} */
    @Deprecated
    default RFuture<V> syncUninterruptibly() {
        try {
            toCompletableFuture().join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException) {
                throw (RuntimeException) e.getCause();
            }
            throw e;
        }
        return this;
    }

    /** @deprecated waits until it is done, with a result or without; use {@link Future#get()} */
    @Deprecated
    default RFuture<V> await() throws InterruptedException {
        await(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
        return this;
    }

    /** @deprecated as {@link #await()}, through interrupts; use {@link CompletableFuture#join} */
    @Deprecated
    default RFuture<V> awaitUninterruptibly() {
        handle((value, error) -> value).toCompletableFuture().join();
        return this;
    }

    /** @deprecated as {@link #await(long, TimeUnit)}; a thread that is interrupted hears false and stays interrupted */
    @Deprecated
    default boolean awaitUninterruptibly(long timeout, TimeUnit unit) {
        try {
            return await(timeout, unit);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** @deprecated as {@link #awaitUninterruptibly(long, TimeUnit)}, in ms */
    @Deprecated
    default boolean awaitUninterruptibly(long timeoutMillis) {
        return awaitUninterruptibly(timeoutMillis, TimeUnit.MILLISECONDS);
    }

    /** @deprecated as {@link #whenComplete}, which gives the next future */
    @Deprecated
    default void onComplete(BiConsumer<? super V, ? super Throwable> action) {
        whenComplete(action);
    }
}

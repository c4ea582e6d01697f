package io.redlatch;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * One hold of a lock, from {@link Holds#of}: whether it still is one, and the news when it is not. Safe for use by many threads.
 *
 * <p>No method here asks the server. A hold counts as lost as soon as this client can no longer rely on it: that is before the server lets
 * another owner have the lock. If an operator changes the key, the holder hears of it within moments. While the release of several locks is under
 * way, the methods wait for its end: the servers' answers to it say whether the hold was lost.
 */
public final class Hold {
    private final String lock;
    private final long token;
    private final Supplier<Answer> look;
    private final Waiting end;
    private final Executor callBacks;
    private final CompletableFuture<LockLostException> lost = new CompletableFuture<>();

    /**
     * @param lock the lock's name, for messages
     * @param token 0: the lock gives none
     * @param look gives what is known of the hold now
     * @param end how it ended, once it has
     * @param callBacks where users' code may run
     * @param ended is run there once it has ended
     */
    Hold(String lock, long token, Supplier<Answer> look, Waiting end, Executor callBacks, Runnable ended) {
        this.lock = lock;
        this.token = token;
        this.look = look;
        this.end = end;
        this.callBacks = callBacks;
        end.then(answer -> callBacks.execute(() -> {
            ended.run();
            if (answer.status() == Answer.LOST) {
                lost.complete(LockLostException.of(answer));
            }
        }));
    }

    /** Whether it ended before it was released. */
    public boolean isLost() {
        return now().status() == Answer.LOST;
    }

    /** Why it was lost; empty if it was not. */
    public Optional<LostReason> reason() {
        Answer now = now();
        return now.status() == Answer.LOST ? Optional.of(LostReason.of(now.number())) : Optional.empty();
    }

    /**
     * Goes on only while this is held, for example before what must not happen twice.
     *
     * @throws LockLostException if it was lost
     * @throws IllegalMonitorStateException if it was released
     */
    public void ensure() {
        Answer now = now();
        if (now.status() == Answer.LOST) {
            throw LockLostException.of(now);
        }
        if (!now.done()) {
            throw new IllegalMonitorStateException("the hold of `" + lock + "` was released; acquire the lock again");
        }
    }

    /** The number that a fenced lock gave this hold, greater than all before; empty of other locks. */
    public OptionalLong token() {
        return token == 0 ? OptionalLong.empty() : OptionalLong.of(token);
    }

    /** For how long it may be relied on from now, unless it is renewed; zero once it has ended. */
    public Duration remaining() {
        Answer now = now();
        return now.done() ? Duration.ofMillis(now.number()) : Duration.ZERO;
    }

    /** Until when it may be relied on, unless it is renewed; now, once it has ended. Changes of the system's clock move it. */
    public Instant deadline() {
        return Instant.now().plus(remaining());
    }

    /**
     * Completes when this is lost, and never after a release. Continuations run where those of the lock's futures do; completing or
     * cancelling it is without effect on the hold and on other callers.
     */
    public CompletableFuture<LockLostException> lost() {
        return lost.thenApplyAsync(loss -> loss, callBacks); // apart: one continuation that blocks delays no other
    }

    /** Calls {@code listener} when this is lost, or soon if it is already, on another thread. */
    public void onLost(Consumer<? super LockLostException> listener) {
        lost.thenAcceptAsync(loss -> UserCode.run(() -> listener.accept(loss)), callBacks);
    }

    boolean hasEnded() {
        return end.isDone();
    }

    private Answer now() {
        if (!end.isDone()) {
            Answer now = look.get();
            if (now.done()) {
                return now;
            }
        }
        return end.await(); // it has ended, so this is there or about to come
    }
}

package io.redlatch;

import io.redlatch.internal.Answer;
import io.redlatch.internal.KnownHold;
import io.redlatch.internal.UserCode;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * One hold of a lock, from {@link Holds#of}: whether it still is one, and the news when it is not. Safe for use by many threads.
 *
 * <p>No method here asks the server. A hold counts as lost as soon as this client can no longer rely on it: that is before the server lets
 * another owner have the lock. If an operator changes the key, the holder hears of it within moments. While the release of several locks is under
 * way, the methods wait for its end: the servers' answers to it say whether the hold was lost.
 */
public final class Hold {
    private final KnownHold known;

    Hold(KnownHold known) {
        this.known = known;
    }

    KnownHold known() {
        return known;
    }

    /** Whether it ended before it was released. */
    public boolean isLost() {
        return known.now().status() == Answer.LOST;
    }

    /** Why it was lost; empty if it was not. */
    public Optional<LostReason> reason() {
        Answer now = known.now();
        return now.status() == Answer.LOST ? Optional.of(now.reason()) : Optional.empty();
    }

    /**
     * Goes on only while this is held, for example before what must not happen twice.
     *
     * @throws LockLostException if it was lost
     * @throws IllegalMonitorStateException if it was released
     */
    public void ensure() {
        Answer now = known.now();
        if (now.status() == Answer.LOST) {
            throw now.loss();
        }
        if (!now.done()) {
            throw new IllegalMonitorStateException("the hold of `" + known.lock() + "` was released; acquire the lock again");
        }
    }

    /** The number that a fenced lock gave this hold, greater than all before; empty of other locks. */
    public OptionalLong token() {
        return known.token() == 0 ? OptionalLong.empty() : OptionalLong.of(known.token());
    }

    /**
     * Whether another client has asked for its release; then it is kind to come to an end soon. It is a request and no more: this stays held. On
     * ZooKeeper Curator's {@code Revoker} asks so; clients of other systems cannot.
     */
    public boolean isWanted() {
        Answer now = known.now();
        return now.done() && now.item(1) != 0;
    }

    /** For how long it may be relied on from now, unless it is renewed; zero once it has ended. */
    public Duration remaining() {
        Answer now = known.now();
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
        return known.lost().thenApplyAsync(loss -> loss, known.callBacks()); // apart: one continuation that blocks delays no other
    }

    /** Calls {@code listener} when this is lost, or soon if it is already, on another thread. */
    public void onLost(Consumer<? super LockLostException> listener) {
        known.lost().thenAcceptAsync(loss -> UserCode.run(() -> listener.accept(loss)), known.callBacks());
    }
}

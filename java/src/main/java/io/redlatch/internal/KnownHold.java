package io.redlatch.internal;

import io.redlatch.Hold;
import io.redlatch.LockLostException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;

/** One hold as its client knows it, until it has ended. An application sees it as a {@link Hold}. */
public final class KnownHold {
    private final Core client;
    private final String lock;
    private final long owner;
    private final long number;
    private final long token;
    private final Supplier<Answer> look;
    private final PendingAnswer end;
    private final Executor callBacks;
    private final CompletableFuture<LockLostException> lost = new CompletableFuture<>();
    private volatile boolean isMade;
    /** Null: the application has not seen it yet. Guarded by this. */
    private Hold seen;

    /**
     * @param client the client, or a group, in which its number means this hold
     * @param lock the lock's name, for messages
     * @param owner the number of its owner
     * @param number its own number in its client
     * @param token 0: the lock gives none
     * @param look gives what is known of the hold now
     * @param end how it ended, once it has
     * @param callBacks where users' code may run
     * @param ended is run once it has ended. The caller looks for itself whether it had ended by the time that this returns
     */
    KnownHold(Core client, String lock, long owner, long number, long token, Supplier<Answer> look, PendingAnswer end,
            Executor callBacks, Runnable ended) {
        this.client = client;
        this.lock = lock;
        this.owner = owner;
        this.number = number;
        this.token = token;
        this.look = look;
        this.end = end;
        this.callBacks = callBacks;
        end.then(answer -> {
            Answer last = last(answer);
            if (last.status() == Answer.LOST) {
                callBacks.execute(() -> {
                    ended.run();
                    lost.complete(last.loss());
                });
            } else if (isMade) { // a release is no news, and needs no other thread
                ended.run();
            }
        });
        isMade = true;
    }

    /** Its client. Of a hold of a group: the group that showed it first. Groups with another home may have another hold under this number. */
    public Core client() {
        return client;
    }

    /** The lock's name, for messages. */
    public String lock() {
        return lock;
    }

    /** The number of its owner. */
    public long owner() {
        return owner;
    }

    /** Its own number, by which it can be released whichever holds its owner has beside it. */
    public long number() {
        return number;
    }

    /** The number that a fenced lock gave this hold; 0 of other locks. */
    public long token() {
        return token;
    }

    /** What is known of it now: done with the remaining ms for its number, {@link Answer#LOST}, or not done if it was released. */
    public Answer now() {
        if (!end.isDone()) {
            Answer now = look.get();
            if (now.done()) {
                return now;
            }
        }
        return last(end.await()); // it has ended, so this is there or about to come
    }

    private Answer last(Answer answer) {
        return answer.status() == Answer.CLOSED ? Answer.lostWithClient(lock) : answer;
    }

    /** Completes when it is lost, and never after a release. An application gets a copy, since it could complete this one. */
    public CompletableFuture<LockLostException> lost() {
        return lost;
    }

    /** Where users' code may run. */
    public Executor callBacks() {
        return callBacks;
    }

    /** The application's view of it, made by {@code view} when it is asked for first: the same object for as long as the lock is held. */
    public synchronized Hold seenBy(Function<KnownHold, Hold> view) {
        if (seen == null) {
            seen = view.apply(this);
        }
        return seen;
    }

    boolean hasEnded() {
        return end.isDone();
    }
}

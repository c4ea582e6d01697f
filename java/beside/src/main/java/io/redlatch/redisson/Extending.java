package io.redlatch.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.KnownHold;
import io.redlatch.internal.Request;
import io.redlatch.redisson.api.RLock;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** Gives a hold another lease. Beside Redisson alone: its multi locks set the lease of a lock that they have taken. */
public final class Extending {
    private Extending() {}

    /**
     * Sets the lease of the hold of the calling thread, else of the hold of {@code owner}.
     *
     * @param ms the lease from now on
     * @return empty: neither has a hold. The stage is false if it has ended since
     */
    public static Optional<CompletionStage<Boolean>> lease(RLock lock, long owner, long ms) {
        RedissonBaseLock base = (RedissonBaseLock) lock;
        KnownHold ofThread = holdOf(base, RedissonBaseLock.currentThread());
        KnownHold hold = ofThread == null ? holdOf(base, owner) : ofThread;
        if (hold == null) {
            return Optional.empty();
        }
        Request extend = Request.extend(base.kind, base.key, hold.owner(), hold.number(), Math.max(1, ms));
        return Optional.of(RedissonFuture.submit(hold.client(), extend, answer -> done(base, answer, hold.owner())));
    }

    private static boolean done(RedissonBaseLock lock, Answer answer, long owner) {
        return answer.status() != Answer.NOT_HELD && answer.status() != Answer.LOST && lock.checked(answer, owner) != null;
    }

    private static KnownHold holdOf(RedissonBaseLock lock, long owner) {
        try {
            return lock.holdOf(owner);
        } catch (IllegalMonitorStateException e) {
            return null;
        }
    }
}

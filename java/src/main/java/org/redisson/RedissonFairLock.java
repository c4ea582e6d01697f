package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Log;
import java.util.concurrent.CompletableFuture;
import org.redisson.api.RFuture;

/**
 * The reentrant lock that goes to the longest waiting waiter.
 *
 * <p>A release of a free lock returns, as in Redisson, and logs a warning: the lease has ended, or the thread never had the lock. A release of a lock
 * that another owner has throws, as with every other kind. A {@link io.redlatch.Lease} tells of every loss.
 */
public class RedissonFairLock extends RedissonLock {
    RedissonFairLock(Place place) {
        this(place, "fair");
    }

    /** @param kind the core's name of the kind */
    RedissonFairLock(Place place, String kind) {
        super(place, kind);
    }

    @Override
    public void unlock() {
        long threadId = currentThread();
        Answer answer = core().run(release(threadId));
        if (isWithoutHold(answer) && !isLocked()) {
            warn(threadId, answer);
        } else {
            checked(answer, threadId);
        }
    }

    @Override
    public RFuture<Void> unlockAsync(long threadId) {
        RFuture<Answer> released = RedissonFuture.submit(core(), release(threadId), answer -> answer);
        return RedissonFuture.of(released.toCompletableFuture().thenCompose(answer -> {
            if (!isWithoutHold(answer)) {
                checked(answer, threadId);
                return CompletableFuture.<Void>completedFuture(null);
            }
            return isLockedAsync().thenAccept(isLocked -> {
                if (isLocked) {
                    checked(answer, threadId);
                } else {
                    warn(threadId, answer);
                }
            });
        }));
    }

    private static boolean isWithoutHold(Answer answer) {
        return answer.status() == Answer.NOT_HELD || answer.status() == Answer.LOST;
    }

    private void warn(long threadId, Answer answer) {
        String message = Failures.of(answer, getName(), core().id(), threadId).getMessage();
        Log.warn("release", message + " (it is free, and of a fair lock that is no exception)");
    }
}

package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Core;
import io.redlatch.internal.Request;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** One call of a red lock. If the shutdown of a client ends it, it goes on in the group that comes after, for the time that is left. */
final class Regrouping {
    private final Supplier<Core> groups;
    private final Request request;
    private final long begun = System.nanoTime();
    private Core group;

    /** @param groups gives the group to ask now */
    Regrouping(Supplier<Core> groups, Request request) {
        this.groups = groups;
        this.request = request;
        this.group = groups.get();
    }

    /** The group that is asked. */
    Core group() {
        return group;
    }

    /** The request, with the wait that is left. */
    Request request() {
        if (request.waitTime() <= 0) {
            return request;
        }
        long waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
        return request.waiting(Math.max(Times.ONCE, request.waitTime() - waited));
    }

    /** Whether there is another group to ask after this answer. It is {@link #group} then. */
    boolean goesOnAfter(Answer answer) {
        if (answer.status() != Answer.CLOSED || !request.canBeRepeated()) {
            return false;
        }
        Core former = group;
        try {
            group = groups.get();
        } catch (RedissonShutdownException e) { // no client is left
            return false;
        }
        return group != former;
    }
}

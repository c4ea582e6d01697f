package org.redisson;

import io.redlatch.LockLostException;
import io.redlatch.internal.Answer;
import io.redlatch.internal.Core;
import io.redlatch.internal.JobSource;
import io.redlatch.internal.KnownHold;
import io.redlatch.internal.Request;

/** The lock of a job: a token lock with an owner of its own for each run. */
final class RedissonJob implements JobSource {
    private static final String KIND = "token";

    private final Core core;
    private final Place place;

    RedissonJob(Place place) {
        place.core.require(KIND);
        this.core = place.core;
        this.place = place;
    }

    @Override
    public JobSource.Run begin(long atMost, long atLeast) {
        long owner = Owners.next();
        Request acquire = Request.acquire(KIND, place.key, owner, Times.ONCE, atMost);
        return core.run(acquire, answer -> checked(answer, owner).done() ? taken(owner, answer.number(), atMost, atLeast) : null);
    }

    private Run taken(long owner, long number, long atMost, long atLeast) {
        try {
            Answer renewed = core.run(Request.renew(KIND, place.key, owner, number, atMost));
            if (renewed.status() == Answer.LOST) {
                throw renewed.loss();
            }
            checked(renewed, owner);
            Answer found = core.look(KIND, place.key, owner, number);
            if (found.ticket() == 0) { // the client was shut down meanwhile
                throw Failures.notHeld(place.name, core.id(), owner);
            }
            return new Run(core.hold(KIND, place.key, owner, found, place.name), Request.letGo(KIND, place.key, owner, number, atLeast));
        } catch (RuntimeException e) { // an Error has the acquire undone
            core.send(Request.release(KIND, place.key, owner, number));
            throw e;
        }
    }

    private Answer checked(Answer answer, long owner) {
        if (answer.failed()) {
            throw Failures.of(answer, place.rawName, core.id(), owner);
        }
        return answer;
    }

    private final class Run implements JobSource.Run {
        private final KnownHold hold;
        /** Made before the work begins: at its end there may be no memory. */
        private final Request letGo;

        Run(KnownHold hold, Request letGo) {
            this.hold = hold;
            this.letGo = letGo;
        }

        @Override
        public KnownHold hold() {
            return hold;
        }

        @Override
        public LockLostException end() {
            try {
                Answer before = hold.now(); // without its server, the end does not tell of a loss
                Answer end = core.run(letGo);
                return before.status() == Answer.LOST ? before.loss() : lossAt(end);
            } catch (Error e) { // of the JVM, for want of memory
                core.send(letGo);
                throw e;
            }
        }

        private LockLostException lossAt(Answer end) {
            // The client was closed or has forgotten the loss since.
            boolean isUnknown = end.status() == Answer.NOT_HELD || end.status() == Answer.CLOSED;
            Answer told = isUnknown && hold.now().status() == Answer.LOST ? hold.now() : end;
            if (told.status() == Answer.LOST) {
                return told.loss();
            }
            checked(told, hold.owner());
            return null;
        }
    }
}

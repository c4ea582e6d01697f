package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Core;
import io.redlatch.internal.KnownHold;
import io.redlatch.internal.LeaderSource;
import io.redlatch.internal.Request;
import java.nio.charset.StandardCharsets;

/** The election of a leader, over two kinds of the core: one has the lock of the leader, one waits for changes and takes nothing. */
final class RedissonLeader implements LeaderSource {
    private static final String KIND = "leader";
    private static final String WATCH = "leader_watch";

    private final Core core;
    private final String name;
    private final byte[] key;

    RedissonLeader(Place place) {
        place.core.require(KIND);
        this.core = place.core;
        this.name = place.name;
        this.key = place.key;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public KnownHold lead(byte[] value, long wait) throws InterruptedException {
        long owner = Owners.next();
        Request candidate = Request.acquire(KIND, key, owner, wait, Times.RENEWED).saying(value);
        return core.runInterruptibly(candidate, answer -> checked(answer, owner).done() ? taken(owner, answer.number()) : null);
    }

    private KnownHold taken(long owner, long number) {
        Answer found = core.look(KIND, key, owner, number);
        if (found.ticket() == 0) { // the client was shut down meanwhile
            throw Failures.notHeld(name, core.id(), owner);
        }
        return core.hold(KIND, key, owner, found, name);
    }

    @Override
    public void resign(KnownHold term) {
        Answer answer = core.run(Request.release(KIND, key, term.owner(), term.number()));
        // The client was closed or has forgotten the loss since.
        boolean isUnknown = answer.status() == Answer.NOT_HELD || answer.status() == Answer.CLOSED;
        if (isUnknown && term.now().status() == Answer.LOST) {
            answer = term.now();
        }
        checked(answer, term.owner());
    }

    @Override
    public Answer current() {
        return checked(core.run(Request.inspect(KIND, key, 0)), 0);
    }

    @Override
    public Answer next(byte[] seen) throws InterruptedException {
        long owner = Owners.next();
        return checked(core.runInterruptibly(Request.acquire(WATCH, key, owner, Times.FOR_EVER, Times.RENEWED).saying(seen)), owner);
    }

    private Answer checked(Answer answer, long owner) {
        if (answer.failed()) {
            throw Failures.of(answer, new String(key, StandardCharsets.UTF_8), core.id(), owner);
        }
        return answer;
    }
}

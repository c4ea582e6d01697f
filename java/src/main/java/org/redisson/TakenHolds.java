package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Core;
import io.redlatch.internal.KnownHold;
import io.redlatch.internal.Request;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The holds that one object of a red lock took. The shutdown of the client that has a group's holds ends them, and the group that comes after it
 * does not know them: the object has to remember which hold an owner lost so.
 */
final class TakenHolds {
    private static final int FEW = 64;

    private final String kind;
    private final byte[] key;
    private final String name;
    /** The latest hold of each owner. */
    private final ConcurrentHashMap<Long, Taken> latest = new ConcurrentHashMap<>();
    /** With more owners than this, those go whose holds another object gave back. */
    private volatile int many = FEW;

    TakenHolds(String kind, byte[] key, String name) {
        this.kind = kind;
        this.key = key;
        this.name = name;
    }

    private static final class Taken {
        final Core group;
        final long number;
        /** The owner's hold before it; null: none. */
        volatile Taken before;
        /** Its owner knows how it ended. */
        final AtomicBoolean isTold = new AtomicBoolean();

        Taken(Core group, long number, Taken before) {
            this.group = group;
            this.number = number;
            this.before = before;
        }
    }

    /** The answer of {@code group} to a request; for a release of a hold that was lost with a former group, its loss. */
    Answer noted(Core group, Request request, Answer answer) {
        try {
            if (request.isAcquire() && answer.done()) {
                add(request.owner(), group, answer.number());
            } else if (request.isRelease()) {
                return released(request.owner(), answer);
            }
        } catch (OutOfMemoryError e) {
            // The caller has to get the answer: it counts for more than the news of a loss.
        }
        return answer;
    }

    /** The latest hold of {@code owner} that was lost with a former group. Null: none. */
    KnownHold lostBy(long owner) {
        Taken lost = lost(owner);
        return lost == null ? null : lost.group.hold(kind, key, owner, look(owner, lost), name);
    }

    /** Notes that the owner knows how this hold ended. */
    void tell(KnownHold hold) {
        for (Taken taken = latest.get(hold.owner()); taken != null; taken = taken.before) {
            if (taken.number == hold.number() && taken.group.id().equals(hold.client().id())) {
                taken.isTold.set(true);
            }
        }
        tidy(hold.owner());
    }

    private void add(long owner, Core group, long number) {
        latest.compute(owner, (same, before) -> new Taken(group, number, open(owner, before)));
        if (latest.size() > many) {
            latest.keySet().forEach(this::tidy);
            many = 2 * latest.size() + FEW;
        }
    }

    private Answer released(long owner, Answer answer) {
        boolean isUnknown = answer.status() == Answer.NOT_HELD || answer.status() == Answer.CLOSED;
        Answer told = isUnknown ? tellLatest(owner) : null;
        tidy(owner);
        return told == null ? answer : told;
    }

    /** The loss of the latest hold that was lost with a former group. No other release gets it. Null: there is none. */
    private Answer tellLatest(long owner) {
        for (Taken taken = latest.get(owner); taken != null; taken = taken.before) {
            Answer loss = lossOf(owner, taken);
            if (loss != null && taken.isTold.compareAndSet(false, true)) {
                return loss;
            }
        }
        return null;
    }

    private Taken lost(long owner) {
        Taken taken = latest.get(owner);
        while (taken != null && lossOf(owner, taken) == null) {
            taken = taken.before;
        }
        return taken;
    }

    private void tidy(long owner) {
        latest.computeIfPresent(owner, this::open);
    }

    /** Drops all but those that are held, or lost with their group: a living group tells of the other losses itself. Gives the latest. */
    private Taken open(long owner, Taken latest) {
        Taken first = null;
        Taken last = null;
        for (Taken taken = latest; taken != null; taken = taken.before) {
            if (!isOpen(owner, taken)) {
                continue;
            }
            if (last == null) {
                first = taken;
            } else {
                last.before = taken;
            }
            last = taken;
        }
        if (last != null) {
            last.before = null;
        }
        return first;
    }

    private boolean isOpen(long owner, Taken taken) {
        return taken.group.hasLostItsHolds() ? lossOf(owner, taken) != null : look(owner, taken).done();
    }

    /** How this hold ended with its group. Null: it did not, or its owner knows. */
    private Answer lossOf(long owner, Taken taken) {
        if (taken.isTold.get() || !taken.group.hasLostItsHolds()) {
            return null;
        }
        Answer now = look(owner, taken);
        if (now.done()) { // the client is being shut down, and the native library does not know yet
            return Answer.lostWithClient(name);
        }
        return now.status() == Answer.LOST ? now : null;
    }

    private Answer look(long owner, Taken taken) {
        return taken.group.look(kind, key, owner, taken.number);
    }
}

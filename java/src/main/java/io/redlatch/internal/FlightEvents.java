package io.redlatch.internal;

import java.nio.charset.StandardCharsets;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** The events of {@link FlightRecords}. */
final class FlightEvents {
    private FlightEvents() {}

    static void load() {
        new LockWait().isEnabled();
        new LockHold().isEnabled();
        new LockLoss().isEnabled();
    }

    static Object begin() {
        LockWait wait = new LockWait();
        if (!wait.isEnabled()) {
            return null;
        }
        wait.begin();
        return wait;
    }

    static void end(Object event, Core client, Request request, Answer answer) {
        LockWait wait = (LockWait) event;
        wait.end();
        if (wait.shouldCommit()) {
            wait.name(client, request);
            wait.outcome = outcome(answer);
            wait.commit();
        }
    }

    static Object hold(Thread holder) {
        LockHold hold = new LockHold();
        if (!hold.isEnabled() && !new LockLoss().isEnabled()) {
            return null;
        }
        hold.holder = holder;
        hold.begin();
        return hold;
    }

    static void ended(Object event, Core client, Request request, Answer end) {
        LockHold hold = (LockHold) event;
        hold.end();
        Answer last = end.status() == Answer.CLOSED ? Answer.lostWithClient("") : end;
        hold.lost = last.status() == Answer.LOST;
        if (hold.shouldCommit()) {
            hold.name(client, request);
            hold.commit();
        }
        LockLoss loss = new LockLoss();
        if (hold.lost && loss.shouldCommit()) {
            loss.name(client, request);
            loss.holder = hold.holder;
            loss.reason = last.reason().toString();
            loss.commit();
        }
    }

    private static String outcome(Answer answer) {
        if (answer == null || answer.status() == Answer.CANCELLED) {
            return "cancelled";
        }
        if (answer.failed()) {
            return "failed";
        }
        return answer.done() ? "acquired" : "not acquired";
    }

    /** The fields of all. */
    private abstract static class OfLock extends Event {
        @Label("Lock")
        String lock;

        @Label("Kind")
        String kind;

        @Label("Client")
        @Description("Its id, which the key has on the server")
        String client;

        @Label("Owner")
        @Description("The id of the thread, or the number of another owner")
        long owner;

        final void name(Core asked, Request request) {
            lock = new String(request.name, StandardCharsets.UTF_8);
            kind = request.kind;
            client = asked.id();
            owner = request.owner;
        }
    }

    @Name("io.redlatch.LockWait")
    @Label("Lock Wait")
    @Category("redlatch")
    @Description("An acquire of a lock or of permits, from the call to its answer")
    @Threshold("10 ms")
    static final class LockWait extends OfLock {
        @Label("Outcome")
        String outcome;
    }

    @Name("io.redlatch.LockHold")
    @Label("Lock Hold")
    @Category("redlatch")
    @Description("A hold of a lock that has ended, by a release or a loss")
    @Threshold("10 ms")
    @StackTrace(false)
    static final class LockHold extends OfLock {
        @Label("Holder")
        @Description("The thread that acquired it; none of an asynchronous acquire")
        Thread holder;

        @Label("Lost")
        boolean lost;
    }

    @Name("io.redlatch.LockLoss")
    @Label("Lock Loss")
    @Category("redlatch")
    @Description("A hold of a lock that was lost: the work under it may have been done twice")
    @StackTrace(false)
    static final class LockLoss extends OfLock {
        @Label("Holder")
        @Description("The thread that acquired it; none of an asynchronous acquire")
        Thread holder;

        @Label("Reason")
        String reason;
    }
}

package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Core;
import io.redlatch.internal.Request;
import io.redlatch.internal.UserCode;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The listeners of one client. */
final class Listeners {
    private final Core core;
    private final AtomicInteger last = new AtomicInteger();
    private final ConcurrentHashMap<Integer, Listening> all = new ConcurrentHashMap<>();

    Listeners(Core core) {
        this.core = core;
    }

    /**
     * From now on calls {@code listener} for each event of a subscription.
     *
     * @param subscribed the request that was answered with {@code number}
     */
    int add(Request subscribed, long number, Runnable listener) {
        int id = last.incrementAndGet();
        Listening listening = new Listening(subscribed, number, listener);
        all.put(id, listening);
        listening.goOn();
        return id;
    }

    void remove(int id) {
        Listening listening = all.remove(id);
        if (listening != null) {
            listening.end();
        }
    }

    /** One listener. The core counts events while it runs, so that it is called for one at a time and for all of them. */
    private final class Listening {
        private final Request subscribed;
        private final long number;
        private final Runnable listener;
        private long ticket;
        /** Whether the request with that ticket waits for events, or its answer is not seen yet. */
        private boolean waits;
        private boolean ended;

        Listening(Request subscribed, long number, Runnable listener) {
            this.subscribed = subscribed;
            this.number = number;
            this.listener = listener;
        }

        synchronized void goOn() {
            if (!ended) {
                ticket = core.submit(subscribed.next(number), this::told);
                waits = true;
            }
        }

        private boolean told(Answer answer) {
            if (answer.done() && mayTell()) {
                core.listen(() -> tell(answer.number()));
            }
            return true; // else a caller cancelled it, or the client is closed
        }

        private synchronized boolean mayTell() {
            waits = false;
            if (ended) { // the request was answered before it was given up
                endSubscription();
            }
            return !ended;
        }

        private void tell(long events) {
            try {
                for (long left = events; left > 0 && !hasEnded(); left--) {
                    UserCode.run(listener);
                }
            } finally { // the handler of uncaught exceptions may throw as well
                goOn();
            }
        }

        /**
         * The request that waits is given up, which ends the subscription. If none waits, the executor may have dropped the work that would ask
         * again, so that only this call can end it.
         */
        synchronized void end() {
            ended = true;
            if (waits) {
                core.cancel(ticket);
            } else {
                endSubscription();
            }
        }

        private void endSubscription() {
            core.submit(subscribed.end(number), answer -> true);
        }

        private synchronized boolean hasEnded() {
            return ended;
        }
    }
}

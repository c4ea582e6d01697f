package io.redlatch.internal;

import java.util.concurrent.atomic.AtomicBoolean;
import jdk.jfr.FlightRecorder;

/**
 * The events of a client for the JDK Flight Recorder. Without a recording in this JVM it is the look at one flag, and no class of an event is loaded. No
 * failure of a recording is one of a lock.
 */
final class FlightRecords {
    /** A JDK may lack the module {@code jdk.jfr}, and the class loader of an application server or of OSGi may hide it. */
    private static volatile boolean usable = isThere();
    private static final AtomicBoolean ASKED = new AtomicBoolean();
    private static volatile boolean loaded;

    private FlightRecords() {}

    /** The event of an acquire that begins now. Null: no recording wants it, or {@code request} takes nothing. */
    static Object begin(Request request) {
        return request.takes() && isOn() ? FlightEvents.begin() : null;
    }

    /**
     * Ends what {@link #begin} gave.
     *
     * @param answer null: the caller gave the request up
     */
    static void end(Object wait, Core client, Request request, Answer answer) {
        if (wait != null) {
            FlightEvents.end(wait, client, request, answer);
        }
    }

    /** The events of a hold that an acquire has brought. Null: no recording wants them, or it has brought permits. */
    static Object hold(Request request, Answer answer, Thread holder) {
        return request.takes() && answer.done() && isOn() && !request.kind.endsWith("semaphore") ? FlightEvents.hold(holder) : null;
    }

    /** Ends what {@link #hold} gave. */
    static void ended(Object hold, Core client, Request request, Answer end) {
        FlightEvents.ended(hold, client, request, end);
    }

    private static boolean isThere() {
        try {
            FlightRecorder.isInitialized();
            return true;
        } catch (LinkageError e) {
            return false;
        }
    }

    private static boolean isOn() {
        return usable && FlightRecorder.isInitialized() && (loaded || load());
    }

    /** Loads the events' classes, which takes a while. A virtual thread would keep its carrier meanwhile: it has them loaded, and does without them. */
    private static boolean load() {
        if (!VirtualThreads.isCurrent()) {
            try {
                FlightEvents.load();
                loaded = true;
            } catch (LinkageError | SecurityException e) {
                // A class that could not be initialized stays so.
                usable = false;
            } catch (StackOverflowError | OutOfMemoryError e) {
                // The next acquire may have more room.
                return false;
            }
        } else if (ASKED.compareAndSet(false, true)) {
            try {
                Callbacks.THREADS.execute(FlightRecords::load, FlightRecords.class.getClassLoader());
            } catch (OutOfMemoryError e) {
                ASKED.set(false);
            }
        }
        return loaded;
    }
}

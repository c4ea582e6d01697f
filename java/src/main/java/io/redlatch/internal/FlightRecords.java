package io.redlatch.internal;

import java.util.concurrent.atomic.AtomicBoolean;
import jdk.jfr.FlightRecorder;

/**
 * What a client tells the JDK Flight Recorder. Without a recording in this JVM it is the look at one flag, and no class of an event is loaded; a JDK
 * without the module {@code jdk.jfr} has no recordings.
 */
final class FlightRecords {
    private static final boolean EXIST = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private static final AtomicBoolean ASKED = new AtomicBoolean();
    private static volatile boolean loaded;

    private FlightRecords() {}

    /** The event of an acquire that begins now. Null: no recording wants it, or {@code request} is no acquire. */
    static Object begin(Request request) {
        return request.isAcquire() && isOn() ? FlightEvents.begin() : null;
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
        return request.isAcquire() && answer.done() && isOn() && !request.kind.endsWith("semaphore") ? FlightEvents.hold(holder) : null;
    }

    /** Ends what {@link #hold} gave. */
    static void ended(Object hold, Core client, Request request, Answer end) {
        FlightEvents.ended(hold, client, request, end);
    }

    private static boolean isOn() {
        return EXIST && FlightRecorder.isInitialized() && (loaded || load());
    }

    /** Loads the events' classes, which takes a while. A virtual thread would keep its carrier meanwhile: it has them loaded, and does without them. */
    private static boolean load() {
        if (!VirtualThreads.isCurrent()) {
            FlightEvents.load();
            loaded = true;
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

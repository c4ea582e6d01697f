package io.redlatch.internal;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Fetches finished requests and hands them over, on the one thread {@code redlatch-completions}.
 *
 * <p>The thread is Java's own and sits in {@link Native#drain}, so that no native thread ever attaches to the JVM. It lives as long as
 * there are open clients, requests whose answers are still to come, or users' code for which the system has no thread: a thread that stayed
 * would keep the class loader of an application that was taken out of its server. No error ends it before: every thread that waits for an
 * answer depends on it. So it waits for nothing else, and above all for no thread of {@link Callbacks}, whose task may wait for an answer.
 */
final class Completions {
    private static final int BATCH = 256;
    /** The number of no client and of no request: the answer to such a request only wakes the thread. */
    private static final long NONE = 0;
    /** The ticket of a warning of the core, which goes to the log. */
    private static final long WARNING = -1;
    /** The pause before a step is tried again that failed for want of memory or threads. */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    /** How often an answer is tried that meets any other error, which is a defect: the answers behind it wait meanwhile. */
    private static final int TRIES = 100;
    private static final byte[] NO_NAME = {};
    private static final long[] NO_NUMBERS = {};
    private static final ConcurrentHashMap<Long, Consumer<Answer>> EXPECTED = new ConcurrentHashMap<>();
    /** The fetched rows outlive a thread that ends in spite of all: the next thread goes on with them. */
    private static final Completions FETCHED = new Completions();

    private static volatile Thread thread;
    private static volatile int clients;

    private final long[] numbers = new long[BATCH * Answer.NUMBERS];
    private final String[] texts = new String[BATCH * Answer.TEXTS];
    /** How many rows were fetched, and which of them is to be handed over next. */
    private int rows;
    private int row;
    /** How often that row was tried in vain. */
    private int failures;

    private Completions() {}

    /** From now on there is one client more. */
    static synchronized void opened() {
        clients = clients + 1;
    }

    /** There is one client less; its answers have come, or will. */
    static synchronized void closed() {
        clients = clients - 1;
        wakeToEnd();
    }

    /** Whether a client is open. */
    static boolean hasClients() {
        return clients > 0;
    }

    /**
     * From now on the answer of {@code ticket} goes to {@code handOver}, which must neither block nor run users' code. It is called again if it
     * throws.
     *
     * @throws OutOfMemoryError if the system has no thread for the answers; then nothing is expected
     */
    static void expect(Long ticket, Consumer<Answer> handOver) {
        try {
            EXPECTED.put(ticket, handOver);
            if (!isRunning()) { // a client that is closed answers as well
                ensureRunning();
            }
        } catch (Throwable e) {
            remove(ticket);
            throw e;
        }
    }

    /** No answer of {@code ticket} will come. Needs no memory: the request may have brought a lock. */
    static void forget(Long ticket) {
        remove(ticket);
        wakeToEnd();
    }

    private static void remove(Long ticket) {
        try {
            EXPECTED.remove(ticket);
        } catch (OutOfMemoryError e) {
            // The map has no memory for one more counter of its size. The ticket is out of it by then.
        }
    }

    private static void wakeToEnd() {
        if (clients == 0 && isRunning()) {
            wake();
        }
    }

    /** From now on {@link Callbacks} misses a thread, and this one asks the system for it. */
    static void waitForThread() {
        ensureRunning();
        wake();
    }

    /** Calls the native methods that have to work without memory. The JVM needs some for the first call of each. */
    static void link() {
        wake();
        Native.cancel(NONE, NONE);
    }

    private static void wake() {
        Native.submit(NONE, NONE, Request.PING, "plain", NO_NAME, 0, 0, 0, 0, 0, -1, NO_NUMBERS, null);
    }

    private static boolean isRunning() {
        Thread now = thread;
        return now != null && now.isAlive();
    }

    private static synchronized void ensureRunning() {
        if (!isRunning()) {
            Thread next = OwnThreads.make("redlatch-completions", FETCHED::run);
            next.start();
            thread = next;
        }
    }

    private void run() {
        while (true) {
            try {
                if (!isWanted()) {
                    return;
                }
                step();
            } catch (Throwable e) {
                try {
                    failed(e);
                } catch (Throwable again) {
                    // For want of memory, most likely: the row is tried again all the same.
                }
            }
        }
    }

    /** Hands one answer over, or fetches more. */
    private void step() {
        if (row == rows) {
            if (Callbacks.THREADS.isMissing() && !Callbacks.THREADS.startMissing()) {
                pause();
                wake(); // answers are fetched meanwhile, and then this is tried again
            }
            row = 0;
            rows = 0;
            rows = Native.drain(numbers, texts);
            return;
        }
        Long ticket = numbers[row * Answer.NUMBERS]; // an object from now on: behind the hand-over nothing may fail, else it is repeated
        if (ticket == WARNING) {
            warnOf(Answer.read(numbers, texts, row).texts());
        } else {
            Consumer<Answer> handOver = EXPECTED.get(ticket);
            if (handOver != null) { // else its start failed at the border, and its caller knows
                handOver.accept(Answer.read(numbers, texts, row));
                remove(ticket);
            }
        }
        next();
    }

    private void failed(Throwable error) {
        pause();
        if (row == rows || error instanceof OutOfMemoryError) {
            return;
        }
        failures++;
        if (failures == TRIES) {
            next();
            warn("callbacks", "an answer of a server could not be handed over: " + error + "; report this");
        }
    }

    private static void pause() {
        Thread.interrupted(); // an interrupt has no meaning here, and would end the pause
        LockSupport.parkNanos(PAUSE_NANOS);
    }

    private void next() {
        failures = 0;
        row++;
    }

    /** @param texts the subject, and the message */
    private static void warnOf(List<byte[]> texts) {
        warn(new String(texts.get(0), StandardCharsets.UTF_8), new String(texts.get(1), StandardCharsets.UTF_8));
    }

    /** Not on this thread: where a log goes may block. */
    private static void warn(String subject, String message) {
        try {
            Callbacks.THREADS.execute(() -> Log.warn(subject, message), Completions.class.getClassLoader());
        } catch (OutOfMemoryError e) {
            // The warning is left out: the next answer matters more.
        }
    }

    /** A thread that begins to expect something just now sees that this one has ended, or is seen here. */
    private static synchronized boolean isWanted() {
        if (clients > 0 || Callbacks.THREADS.isMissing()) {
            return true;
        }
        Thread current = thread;
        thread = null;
        if (FETCHED.row == FETCHED.rows && EXPECTED.isEmpty()) {
            return false;
        }
        thread = current;
        return true;
    }
}

package io.redlatch;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Fetches finished requests and hands them over, on the one thread {@code redlatch-completions}.
 *
 * <p>The thread is Java's own and sits in {@link Native#drain}, so that no native thread ever attaches to the JVM. It lives as long as
 * there are open clients or requests whose answers are still to come: a thread that stayed would keep the class loader of an
 * application that was taken out of its server.
 */
final class Completions {
    private static final int BATCH = 256;
    /** No client, and no request: their answers only wake the thread. */
    private static final long NOBODY = 0;
    /** The ticket of what is to be logged. */
    private static final long WARNING = -1;
    /** Without memory or threads an answer cannot be handed over; it is tried again after so long. */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final ConcurrentHashMap<Long, Consumer<Answer>> EXPECTED = new ConcurrentHashMap<>();

    private static volatile boolean running;
    private static volatile int clients;

    private final long[] numbers = new long[BATCH * Answer.NUMBERS];
    private final String[] texts = new String[BATCH * Answer.TEXTS];
    /** How many rows were fetched, and which of them is to be handed over next. */
    private int rows;
    private int row;

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
     * From now on the answer of {@code ticket} goes to {@code handOver}, which must neither block nor run users' code. If it throws for want
     * of memory, it is called again.
     */
    static void expect(long ticket, Consumer<Answer> handOver) {
        EXPECTED.put(ticket, handOver);
        if (!running) { // a client that is closed answers as well
            try {
                ensureRunning();
            } catch (Throwable e) {
                EXPECTED.remove(ticket);
                throw e;
            }
        }
    }

    /** No answer of {@code ticket} will come. */
    static void forget(long ticket) {
        EXPECTED.remove(ticket);
        wakeToEnd();
    }

    private static void wakeToEnd() {
        if (clients == 0 && running) {
            Native.submit(NOBODY, NOBODY, Request.PING, "plain", new byte[0], 0, 0, 0, 0, 0, -1, new long[0], null);
        }
    }

    /** @throws OutOfMemoryError if the system has no thread; the next request tries again */
    private static synchronized void ensureRunning() {
        if (!running) {
            OwnThreads.make("redlatch-completions", new Completions()::run).start();
            running = true;
        }
    }

    private void run() {
        while (row < rows || isWanted()) {
            try {
                step();
            } catch (OutOfMemoryError e) { // of memory or of threads: there will be some again
                LockSupport.parkNanos(PAUSE_NANOS);
            } catch (Throwable e) {
                row++; // a defect in this library, which must not keep the others' answers from them
                report(e);
            }
        }
    }

    /** Hands one answer over, or fetches more. */
    private void step() {
        if (row == rows) {
            row = 0;
            rows = 0;
            rows = Native.drain(numbers, texts);
            return;
        }
        long ticket = numbers[row * Answer.NUMBERS];
        if (ticket == WARNING) {
            String warning = Answer.read(numbers, texts, row).message();
            Callbacks.THREADS.execute(() -> Log.warn(warning), Completions.class.getClassLoader()); // where a log goes may block
        } else {
            Consumer<Answer> handOver = EXPECTED.get(ticket);
            if (handOver != null) { // nobody's: its start failed at the border, and its caller knows
                handOver.accept(Answer.read(numbers, texts, row));
                EXPECTED.remove(ticket);
            }
        }
        row++;
    }

    private static void report(Throwable error) {
        try {
            Callbacks.THREADS.execute(() -> Log.warn("an answer of a server could not be handed over: " + error + "; report this"),
                    Completions.class.getClassLoader());
        } catch (Throwable e) {
            // The next answer matters more.
        }
    }

    /** A thread that begins to expect something just now sees that this one has ended, or is seen here. */
    private static synchronized boolean isWanted() {
        if (clients > 0) {
            return true;
        }
        running = false;
        running = !EXPECTED.isEmpty();
        return running;
    }
}

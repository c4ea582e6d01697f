package io.redlatch;

import java.util.concurrent.ConcurrentHashMap;
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
    private static final ConcurrentHashMap<Long, Consumer<Answer>> EXPECTED = new ConcurrentHashMap<>();

    private static volatile boolean running;
    private static volatile int clients;

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

    /** From now on the answer of {@code ticket} goes to {@code handOver}, which must neither block nor run users' code. */
    static void expect(long ticket, Consumer<Answer> handOver) {
        EXPECTED.put(ticket, handOver);
        if (!running) { // a client that is closed answers as well
            ensureRunning();
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

    private static synchronized void ensureRunning() {
        if (!running) {
            running = true;
            Thread thread = new Thread(Completions::run, "redlatch-completions");
            thread.setDaemon(true);
            thread.setContextClassLoader(null); // it outlives the application that happened to start it
            thread.start();
        }
    }

    private static void run() {
        long[] numbers = new long[BATCH * Answer.NUMBERS];
        String[] texts = new String[BATCH * Answer.TEXTS];
        while (isWanted()) {
            int rows = Native.drain(numbers, texts);
            for (int row = 0; row < rows; row++) {
                long ticket = numbers[row * Answer.NUMBERS];
                if (ticket == WARNING) {
                    String warning = Answer.read(numbers, texts, row).message();
                    Core.Callbacks.POOL.execute(() -> Log.warn(warning)); // where a log goes may block
                    continue;
                }
                Consumer<Answer> handOver = EXPECTED.remove(ticket);
                if (handOver != null) { // nobody's: its start failed at the border, and its caller knows
                    handOver.accept(Answer.read(numbers, texts, row));
                }
            }
        }
    }

    /** Who begins to expect something just now sees that nobody runs, or is seen here. */
    private static synchronized boolean isWanted() {
        if (clients > 0) {
            return true;
        }
        running = false;
        running = !EXPECTED.isEmpty();
        return running;
    }
}

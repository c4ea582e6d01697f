package io.redlatch;

import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Fetches finished requests and hands them over, on the one thread {@code redlatch-completions}.
 *
 * <p>The thread is Java's own and sits in {@link Native#drain}, so that no native thread ever attaches to the JVM.
 */
final class Completions {
    private static final int BATCH = 256;
    private static final ConcurrentHashMap<Long, Consumer<Answer>> EXPECTED = new ConcurrentHashMap<>();

    static {
        Thread thread = new Thread(Completions::run, "redlatch-completions");
        thread.setDaemon(true);
        thread.setContextClassLoader(null); // it outlives the application that happened to start it
        thread.start();
    }

    private Completions() {}

    /** From now on the answer of {@code ticket} goes to {@code handOver}, which must neither block nor run users' code. */
    static void expect(long ticket, Consumer<Answer> handOver) {
        EXPECTED.put(ticket, handOver);
    }

    /** No answer of {@code ticket} will come. */
    static void forget(long ticket) {
        EXPECTED.remove(ticket);
    }

    private static void run() {
        long[] numbers = new long[BATCH * Answer.NUMBERS];
        String[] texts = new String[BATCH * Answer.TEXTS];
        while (true) {
            int rows = Native.drain(numbers, texts);
            for (int row = 0; row < rows; row++) {
                Consumer<Answer> handOver = EXPECTED.remove(numbers[row * Answer.NUMBERS]);
                if (handOver != null) { // nobody's: its start failed at the border, and its caller knows
                    handOver.accept(Answer.read(numbers, texts, row));
                }
            }
        }
    }
}

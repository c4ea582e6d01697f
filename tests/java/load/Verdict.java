import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;

/** The counts of the load, and its failures. */
final class Verdict {
    /** The first failures tell enough; thousands of them would fill the disk. */
    private static final int SHOWN = 200;

    private final Map<String, Map<String, LongAdder>> counts = new ConcurrentSkipListMap<>();
    private final List<String> failures = new ArrayList<>();
    private long failed;

    /** One more {@code outcome} of {@code kind}. */
    void count(String kind, String outcome) {
        count(kind, outcome, 1);
    }

    void count(String kind, String outcome, long times) {
        counts.computeIfAbsent(kind, key -> new ConcurrentSkipListMap<>()).computeIfAbsent(outcome, key -> new LongAdder()).add(times);
    }

    long counted(String kind, String outcome) {
        LongAdder count = counts.getOrDefault(kind, Map.of()).get(outcome);
        return count == null ? 0 : count.sum();
    }

    /** A promise is broken; the run fails. */
    synchronized void fail(String text) {
        failed++;
        if (failures.size() < SHOWN) {
            failures.add(text);
            System.out.println(Vitals.clock() + " FAILED: " + text);
        }
    }

    synchronized long failed() {
        return failed;
    }

    void print() {
        System.out.println("\n--- what was done, and how it ended");
        counts.forEach((kind, outcomes) -> {
            StringBuilder line = new StringBuilder(String.format("%-22s", kind));
            outcomes.forEach((outcome, count) -> line.append("  ").append(outcome).append(' ').append(count.sum()));
            System.out.println(line);
        });
        synchronized (this) {
            System.out.println("\n--- failures: " + failed);
            failures.forEach(System.out::println);
        }
    }
}

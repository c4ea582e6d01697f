// The work of callers with locks, and the lines of numbers about it.

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

final class Measure {
    private Measure() {}

    /** The times of pairs, one after the other; of at least one pair, even if it begins too late. */
    static long[] pairs(Engine.Lock lock, long from, long until) throws Exception {
        long[] took = new long[1 << 10];
        int count = 0;
        sleepUntil(from);
        for (long last = System.nanoTime(); count == 0 || last < until; count++) {
            lock.acquire();
            lock.release();
            long now = System.nanoTime();
            if (count == took.length) {
                took = Arrays.copyOf(took, 2 * count);
            }
            took[count] = now - last;
            last = now;
        }
        return Arrays.copyOf(took, count);
    }

    static String paired(List<long[]> times) {
        long[] took = times.stream().flatMapToLong(LongStream::of).sorted().toArray();
        return "pairs=" + took.length + spread(took);
    }

    /** The waits of one worker, which takes these locks in turn. */
    static long[] contend(List<Engine.Lock> turns, long from, long until) throws Exception {
        long[] waits = new long[1 << 10];
        int taken = 0;
        sleepUntil(from);
        for (long asked = System.nanoTime(); asked < until; asked = System.nanoTime()) {
            Engine.Lock lock = turns.get(taken % turns.size());
            lock.acquire();
            if (taken == waits.length) {
                waits = Arrays.copyOf(waits, 2 * taken);
            }
            waits[taken++] = System.nanoTime() - asked;
            lock.release();
        }
        return Arrays.copyOf(waits, taken);
    }

    static String contended(List<long[]> shares) {
        String taken = shares.stream().map(waits -> String.valueOf(waits.length)).collect(Collectors.joining(","));
        long[] waits = shares.stream().flatMapToLong(LongStream::of).sorted().toArray();
        return "taken=" + taken + spread(waits) + " longest=" + at(waits, 1);
    }

    private static String spread(long[] times) {
        return " p50=" + at(times, 0.5) + " p99=" + at(times, 0.99);
    }

    /** The time that this share of the sorted times does not exceed. */
    private static long at(long[] times, double share) {
        return times.length == 0 ? 0 : times[(int) ((times.length - 1) * share)];
    }

    /** `hold` and `gap` are in ms. */
    static String handover(Engine.Lock lock, int times, int hold, int gap) throws Exception {
        List<String> taken = new ArrayList<>();
        List<String> released = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            lock.acquire();
            taken.add(String.valueOf(System.nanoTime()));
            Thread.sleep(hold);
            released.add(String.valueOf(System.nanoTime()));
            lock.release();
            Thread.sleep(gap);
        }
        return "taken=" + String.join(",", taken) + " released=" + String.join(",", released);
    }

    private static void sleepUntil(long time) throws InterruptedException {
        Thread.sleep(Math.max(0, time - System.nanoTime()) / 1_000_000);
    }
}

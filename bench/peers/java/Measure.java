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
        return "pairs=" + took.length + " p50=" + took[(took.length - 1) / 2] + " p99=" + took[(int) ((took.length - 1) * 0.99)];
    }

    /** The acquisitions and the longest wait of one worker of a crowd. */
    record Share(long taken, long longest) {}

    static Share contend(List<Engine.Lock> turns, long from, long until) throws Exception {
        int taken = 0;
        long longest = 0;
        sleepUntil(from);
        for (long asked = System.nanoTime(); asked < until; asked = System.nanoTime()) {
            Engine.Lock lock = turns.get(taken++ % turns.size());
            lock.acquire();
            longest = Math.max(longest, System.nanoTime() - asked);
            lock.release();
        }
        return new Share(taken, longest);
    }

    static String contended(List<Share> shares) {
        String taken = shares.stream().map(share -> String.valueOf(share.taken)).collect(Collectors.joining(","));
        return "taken=" + taken + " longest=" + shares.stream().mapToLong(Share::longest).max().getAsLong();
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

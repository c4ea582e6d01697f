package io.redlatch;

import io.redlatch.internal.OwnKinds;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import org.redisson.api.RedissonClient;

/**
 * The figures that a client has counted since it was made, for metrics.
 *
 * <pre>{@code
 * Stats stats = Stats.of(client);
 * gauge("locks.held", stats.held());
 * counter("locks.acquired", stats.acquired());
 * counter("locks.lost", stats.lost().get(LostReason.EXPIRED));
 * }</pre>
 *
 * <p>The counters only grow. Each lock of a multi or red lock counts at its own client. Permits of a semaphore count as locks do; the waits for a latch
 * and for the news of a leader do not count. Nothing is asked of the server.
 */
public final class Stats {
    private static final LostReason[] REASONS = LostReason.values();
    private static final int COUNTS = 10;

    /** In the order of the core: the counts, then the losses by reason. */
    private final long[] numbers;

    private Stats(long[] numbers) {
        this.numbers = numbers;
    }

    /**
     * The figures of this moment.
     *
     * @throws IllegalArgumentException if {@code client} was not made by this library
     * @throws ClassPathConflictException if that is because Redisson itself is on the class path as well
     * @throws org.redisson.RedissonShutdownException if the client was shut down
     */
    public static Stats of(RedissonClient client) {
        long[] numbers = new long[COUNTS + REASONS.length];
        OwnKinds.of(client, Stats.class).stats(numbers);
        return new Stats(numbers);
    }

    /** The holds that the client has now. Permits without a holder, those of a semaphore, are none. */
    public long held() {
        return numbers[0];
    }

    /** The acquires that have no answer yet. */
    public long waiting() {
        return numbers[1];
    }

    /** The acquires that got the lock. */
    public long acquired() {
        return numbers[2];
    }

    /** The acquires that ended without the lock because others had it. */
    public long notAcquired() {
        return numbers[3];
    }

    /** The acquires that ended with an exception. */
    public long failed() {
        return numbers[4];
    }

    /** The acquires that their callers gave up: interrupted threads, cancelled futures. */
    public long cancelled() {
        return numbers[5];
    }

    /** The releases that gave something back, or with which the client goes on by itself. */
    public long released() {
        return numbers[6];
    }

    /** The holds whose renewal had no answer in time; the watchdog tries again, so that most of them are not lost. */
    public long renewalsFailed() {
        return numbers[7];
    }

    /** The time that all acquires took until their answers. */
    public Duration waited() {
        return Duration.of(numbers[8], ChronoUnit.MICROS);
    }

    /** The time for which owners had locks, up to each release or loss. Nested holds count once. */
    public Duration heldFor() {
        return Duration.of(numbers[9], ChronoUnit.MICROS);
    }

    /** The holds that were lost, by reason; every reason is there. */
    public Map<LostReason, Long> lost() {
        Map<LostReason, Long> lost = new EnumMap<>(LostReason.class);
        for (LostReason reason : REASONS) {
            lost.put(reason, numbers[COUNTS + reason.ordinal()]);
        }
        return Collections.unmodifiableMap(lost);
    }

    @Override
    public String toString() {
        return "Stats[held=" + held() + ", waiting=" + waiting() + ", acquired=" + acquired() + ", notAcquired=" + notAcquired() + ", failed=" + failed()
                + ", cancelled=" + cancelled() + ", released=" + released() + ", renewalsFailed=" + renewalsFailed() + ", waited=" + waited()
                + ", heldFor=" + heldFor() + ", lost=" + lost() + "]";
    }
}

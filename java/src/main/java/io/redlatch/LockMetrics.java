package io.redlatch;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.redlatch.internal.LatestStats;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.redisson.api.RedissonClient;

/**
 * The figures of {@link Stats} as meters of Micrometer, which is a library that the application brings:
 *
 * <pre>{@code
 * new LockMetrics(client).bindTo(registry);
 * }</pre>
 *
 * <p>The meters ask nothing of the server. They live as long as the client is reachable, and keep their last figures once it is shut down. An
 * application with several clients gives each of them a tag.
 */
public final class LockMetrics implements MeterBinder {
    private final RedissonClient client;
    private final Tags tags;
    private final LatestStats latest;

    /**
     * Of one client.
     *
     * @throws IllegalArgumentException if {@code client} was not made by this library
     * @throws org.redisson.RedissonShutdownException if it was shut down
     */
    public LockMetrics(RedissonClient client) {
        this(client, Tags.empty());
    }

    /** As {@link #LockMetrics(RedissonClient)}, with tags for each meter. */
    public LockMetrics(RedissonClient client, Iterable<Tag> tags) {
        this.client = client;
        this.tags = Tags.of(tags);
        this.latest = new LatestStats(Stats.of(client));
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        gauge(registry, "redlatch.holds", "Holds that the client has now", Stats::held);
        gauge(registry, "redlatch.waiting", "Acquires that have no answer yet", Stats::waiting);
        acquires(registry, "acquired", Stats::acquired);
        acquires(registry, "not acquired", Stats::notAcquired);
        acquires(registry, "failed", Stats::failed);
        acquires(registry, "cancelled", Stats::cancelled);
        timer(registry, "redlatch.wait", "Acquires, and the time until their answers",
                stats -> stats.acquired() + stats.notAcquired() + stats.failed() + stats.cancelled(), Stats::waited);
        timer(registry, "redlatch.hold", "Holds that have ended, and the time for which owners had the locks", LockMetrics::ended, Stats::heldFor);
        counter(registry, "redlatch.renewals.failed", "Holds whose renewal had no answer in time", Tags.empty(), Stats::renewalsFailed);
        for (LostReason reason : LostReason.values()) {
            counter(registry, "redlatch.losses", "Holds that ended before their release", Tags.of("reason", reason.toString()),
                    stats -> stats.lost().get(reason));
        }
    }

    private static long ended(Stats stats) {
        return stats.released() + stats.lost().values().stream().mapToLong(Long::longValue).sum();
    }

    private void acquires(MeterRegistry registry, String outcome, ToLongFunction<Stats> figure) {
        counter(registry, "redlatch.acquires", "Acquires that have their answer", Tags.of("outcome", outcome), figure);
    }

    private void gauge(MeterRegistry registry, String name, String description, ToLongFunction<Stats> figure) {
        LatestStats stats = latest;
        Gauge.builder(name, client, of -> figure.applyAsLong(stats.of(of))).description(description).tags(tags).register(registry);
    }

    private void counter(MeterRegistry registry, String name, String description, Tags more, ToLongFunction<Stats> figure) {
        LatestStats stats = latest;
        FunctionCounter.builder(name, client, of -> figure.applyAsLong(stats.of(of))).description(description).tags(tags.and(more)).register(registry);
    }

    private void timer(MeterRegistry registry, String name, String description, ToLongFunction<Stats> count, Function<Stats, Duration> sum) {
        LatestStats stats = latest;
        FunctionTimer.builder(name, client, of -> count.applyAsLong(stats.of(of)), of -> sum.apply(stats.of(of)).toNanos(), TimeUnit.NANOSECONDS)
                .description(description).tags(tags).register(registry);
    }
}

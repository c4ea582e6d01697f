package io.redlatch.internal;

import io.redlatch.Stats;
import org.redisson.RedissonShutdownException;
import org.redisson.api.RedissonClient;

/** The figures of a client; the last ones known, once it is shut down. It has no reference to the client, so that its meters end with the client. */
public final class LatestStats {
    private volatile Stats last;

    /** @param first figures of the client */
    public LatestStats(Stats first) {
        this.last = first;
    }

    /** The figures of {@code client}, which is the same one each time. */
    public Stats of(RedissonClient client) {
        try {
            last = Stats.of(client);
        } catch (RedissonShutdownException e) {
            // The application is about to end: the last scrape has what was counted before.
        }
        return last;
    }
}

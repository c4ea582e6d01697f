package io.redlatch;

import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** What can be chosen here and not in Redisson. */
public final class Options {
    private Options() {}

    /**
     * Makes {@code shutdown} of clients with this configuration give back what they hold, so that others need not wait for the leases to
     * end. Without this it expires, as with Redisson. Shutdown then waits for the server, as long as a call may take.
     *
     * @return the same configuration
     */
    public static Config releaseOnShutdown(Config config) {
        ((Extended) config).releaseOnShutdown();
        return config;
    }

    /**
     * As {@link #releaseOnShutdown(Config)}, for one client.
     *
     * @return the same client
     * @throws IllegalArgumentException if {@code client} was not made by this library
     */
    public static RedissonClient releaseOnShutdown(RedissonClient client) {
        if (!(client instanceof Extended)) {
            throw new IllegalArgumentException(client + " has no such option; use a client of this library, unwrapped");
        }
        ((Extended) client).releaseOnShutdown();
        return client;
    }

    /** What these options can be set for. Not for applications. */
    public interface Extended {
        /** See {@link Options#releaseOnShutdown(Config)}. */
        void releaseOnShutdown();
    }
}

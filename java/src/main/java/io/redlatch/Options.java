package io.redlatch;

import io.redlatch.internal.ClassPath;
import io.redlatch.internal.ExtendedOptions;
import java.time.Duration;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ConfigAccess;

/** Options that Redisson does not have. */
public final class Options {
    private Options() {}

    /**
     * Makes {@code shutdown} of clients with this configuration give back what they hold, so that others need not wait for the leases to
     * end. Without this it expires, as with Redisson. Shutdown then waits for the server, as long as a call may take.
     *
     * @return the same configuration
     * @throws ClassPathConflictException if Redisson itself is on the class path as well
     */
    public static Config releaseOnShutdown(Config config) {
        extended(config, "config").releaseOnShutdown();
        return config;
    }

    /**
     * As {@link #releaseOnShutdown(Config)}, for one client.
     *
     * @return the same client
     * @throws IllegalArgumentException if {@code client} was not made by this library
     * @throws ClassPathConflictException if that is because Redisson itself is on the class path as well
     */
    public static RedissonClient releaseOnShutdown(RedissonClient client) {
        extended(client, "client").releaseOnShutdown();
        return client;
    }

    /**
     * Makes servers that may have lost locks, because they have just started or have taken over from another one, grant no new ones until
     * no holder believes in a lost one any more: for the longest lease that the client has asked for, at least
     * {@code lockWatchdogTimeout}. Waiters wait on; renewals, unlocks and further holds go on. Every client that shares a lock needs this option,
     * and Redisson's own clients cannot have it.
     *
     * @return the same configuration
     * @throws ClassPathConflictException if Redisson itself is on the class path as well
     */
    public static Config quarantine(Config config) {
        extended(config, "config");
        ConfigAccess.quarantine(config);
        return config;
    }

    /**
     * Sets the time for which the waiters of a client hand a contended lock to each other without asking the server, from the acquire by
     * which one of them got it: from 0 to a year, rounded up to ms, 2 ms by default. After that they go on until 64 owners in a row have had
     * the lock, or for 10 ms in all, and then waiters of other clients have their chance. With 0 each owner gets the lock from the server.
     * It applies to plain, non-reentrant, fenced and write locks that are held without a lease of their own.
     *
     * @return the same configuration
     * @throws ClassPathConflictException if Redisson itself is on the class path as well
     */
    public static Config turn(Config config, Duration time) {
        extended(config, "config");
        ConfigAccess.turn(config, time);
        return config;
    }

    private static ExtendedOptions extended(Object object, String what) {
        if (!(object instanceof ExtendedOptions)) {
            ClassPath.check(Options.class); // Redisson's jar comes first, so that its classes are the ones in use
            throw new IllegalArgumentException(object + " has no such option; use a " + what + " of this library, unwrapped");
        }
        return (ExtendedOptions) object;
    }
}

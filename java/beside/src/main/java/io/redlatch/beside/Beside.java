package io.redlatch.beside;

import io.redlatch.ClassPathConflictException;
import io.redlatch.redisson.config.Config;
import java.util.function.Consumer;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * Redisson's client with the locks of redlatch. An application that uses Redisson for maps, queues and topics keeps it, and changes one line:
 *
 * <pre>{@code
 * RedissonClient client = Beside.of(Redisson.create(config));
 * }</pre>
 *
 * <p>Locks of every kind, semaphores and latches of {@code client} are those of redlatch, behind Redisson's types and with Redisson's exceptions.
 * Everything else is Redisson's: maps, topics, transactions, {@code reactive()}, {@code rxJava()} and {@code getKeys()}, and so are the locks that
 * its objects have, as those of {@code RMap.getLock}. On the server both kinds of lock are the same.
 */
public final class Beside {
    private Beside() {}

    /**
     * Makes a client of redlatch with the configuration of {@code redisson}, and gives both as one. Shutting that down shuts down both; the end of
     * {@code redisson} alone leaves the locks' client open.
     *
     * @param redisson what {@code Redisson.create} returned
     * @throws IllegalArgumentException if it is something else, as a wrapper, or if the configuration cannot be used
     * @throws org.redisson.client.RedisConnectionException if the server cannot be reached; {@code redisson} stays open, as in all of these
     * @throws UnsupportedOperationException for settings that cannot be had, by name
     * @throws io.redlatch.NativeLibraryError if there is no native library for this platform
     * @throws ClassPathConflictException if redlatch's own jar is on the class path as well
     */
    public static RedissonClient of(RedissonClient redisson) {
        return of(redisson, config -> { });
    }

    /**
     * As {@link #of(RedissonClient)}, with options that Redisson does not have, or with other settings for locks:
     *
     * <pre>{@code
     * Beside.of(redisson, config -> Options.turn(config, Duration.ZERO));
     * }</pre>
     *
     * @param settings changes the configuration of the locks' client before it is made
     */
    public static RedissonClient of(RedissonClient redisson, Consumer<Config> settings) {
        Conflict.check();
        return BesideClient.of(redisson, settings);
    }

    /**
     * The lock itself, for the calls of redlatch that Redisson does not have, as {@code Holds.of(Beside.lock(lock))}. A thread that holds the one
     * holds the other.
     *
     * @throws IllegalArgumentException if {@code lock} was not made by a client of {@link #of}
     */
    public static io.redlatch.redisson.api.RLock lock(RLock lock) {
        return Exchange.behind(lock, io.redlatch.redisson.api.RLock.class, "lock");
    }

    /**
     * The client of the locks itself, for the calls of redlatch that Redisson does not have, as {@code Locks.of(Beside.client(client), "orders:*")}.
     *
     * @throws IllegalArgumentException if {@code client} was not made by {@link #of}
     */
    public static io.redlatch.redisson.api.RedissonClient client(RedissonClient client) {
        return Exchange.behind(client, io.redlatch.redisson.api.RedissonClient.class, "client");
    }
}

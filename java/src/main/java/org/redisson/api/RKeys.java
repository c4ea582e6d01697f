package org.redisson.api;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.redisson.api.options.KeysScanOptions;

/**
 * The keys of the database, of every kind; in a cluster, of all its masters. It is for tidying up: a deletion takes the lock from its holder and
 * wakes no waiter. A deletion whose reply was lost counts the keys that are there when it is repeated. Names go through the
 * client's {@link org.redisson.config.NameMapper}.
 */
public interface RKeys extends RKeysAsync {
    /** The names of all keys, fetched as they are asked for. The iterator may miss keys that come or go meanwhile; a name may come twice. */
    Iterable<String> getKeys();

    /** As {@link #getKeys()}, those that the options say. */
    Iterable<String> getKeys(KeysScanOptions options);

    /** @deprecated use {@link #getKeys(KeysScanOptions)} */
    @Deprecated
    Iterable<String> getKeys(int count);

    /** @deprecated use {@link #getKeys(KeysScanOptions)} */
    @Deprecated
    Iterable<String> getKeysByPattern(String pattern);

    /** @deprecated use {@link #getKeys(KeysScanOptions)} */
    @Deprecated
    Iterable<String> getKeysByPattern(String pattern, int count);

    /** @deprecated use {@link #getKeys(KeysScanOptions)} */
    @Deprecated
    Iterable<String> getKeysWithLimit(int limit);

    /** @deprecated use {@link #getKeys(KeysScanOptions)} */
    @Deprecated
    Iterable<String> getKeysWithLimit(String pattern, int limit);

    /** As {@link #getKeys()}. */
    Stream<String> getKeysStream();

    /** As {@link #getKeys(KeysScanOptions)}. */
    Stream<String> getKeysStream(KeysScanOptions options);

    /** @deprecated use {@link #getKeysStream(KeysScanOptions)} */
    @Deprecated
    Stream<String> getKeysStream(int count);

    /** @deprecated use {@link #getKeysStream(KeysScanOptions)} */
    @Deprecated
    Stream<String> getKeysStreamByPattern(String pattern);

    /** @deprecated use {@link #getKeysStream(KeysScanOptions)} */
    @Deprecated
    Stream<String> getKeysStreamByPattern(String pattern, int count);

    /** How many keys there are. */
    long count();

    /** How many of the keys exist. */
    long countExists(String... names);

    /** The name of any key; null if there is none. */
    String randomKey();

    /** The type of the key; null if there is no such key, or its type has no name here. */
    RType getType(String key);

    /** The key's slot in a cluster. Asks nothing of the server. */
    int getSlot(String key);

    /** Notes an access to the keys. How many of them exist. */
    long touch(String... names);

    /**
     * Gives a key another name, and replaces a key that has that name already. In a cluster both names have to be in one slot.
     *
     * @throws org.redisson.client.RedisException if it is not there
     */
    void rename(String currentName, String newName);

    /** As {@link #rename}, unless something has that name. Whether it was done. */
    boolean renamenx(String oldName, String newName);

    /** Lets the keys expire after that time. How many of them exist. */
    long expire(Duration duration, String... names);

    /** Lets the keys expire at that time. How many of them exist. */
    long expireAt(Instant instant, String... names);

    /** @deprecated use {@link #expire(Duration, String...)} */
    @Deprecated
    boolean expire(String name, long timeToLive, TimeUnit timeUnit);

    /** @deprecated use {@link #expireAt(Instant, String...)}; in ms since 1970 */
    @Deprecated
    boolean expireAt(String name, long timestamp);

    /** Takes the object's end away. False if there is no such object, or it had no end. */
    boolean clearExpire(String name);

    /** How many ms the object has left; −1 without an end, −2 if there is no such object. */
    long remainTimeToLive(String name);

    /** Deletes the keys. How many existed. Waiters for a lock are not told. */
    long delete(String... names);

    /** Deletes the keys of the objects. How many existed. */
    long delete(RObject... objects);

    /** As {@link #delete(String...)}; the server frees their memory afterwards. */
    long unlink(String... names);

    /** Deletes all keys that match, as in {@code lock:*}. How many there were. */
    long deleteByPattern(String pattern);

    /** As {@link #deleteByPattern}; the server frees their memory afterwards. */
    long unlinkByPattern(String pattern);
}

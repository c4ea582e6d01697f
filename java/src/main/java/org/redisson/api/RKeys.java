package org.redisson.api;

/**
 * The keys of the database, of whatever kind. It is for tidying up: what is deleted here is lost to those who hold it, and nobody who waits
 * is told. A call whose reply was lost counts what is there when it is repeated.
 */
public interface RKeys extends RKeysAsync {
    /** How many keys there are. */
    long count();

    /** How many of them are there. */
    long countExists(String... names);

    /** Deletes them. How many were there. Who waits for a lock is not told. */
    long delete(String... keys);

    /** Deletes the keys of those. How many were there. */
    long delete(RObject... objects);

    /** As {@link #delete(String...)}; the server frees their memory afterwards. */
    long unlink(String... keys);

    /** Notes an access to them. How many are there. */
    long touch(String... names);

    /** Deletes all keys that match, as in {@code lock:*}. How many there were. */
    long deleteByPattern(String pattern);

    /** As {@link #deleteByPattern}; the server frees their memory afterwards. */
    long unlinkByPattern(String pattern);

    /** Deletes everything in this database, other programs' keys as well. */
    void flushdb();

    /** As {@link #flushdb}; the server frees its memory afterwards. */
    void flushdbParallel();

    /** Deletes everything in all databases of the server, other programs' keys as well. */
    void flushall();

    /** As {@link #flushall}; the server frees its memory afterwards. */
    void flushallParallel();
}

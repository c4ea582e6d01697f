package io.redlatch.internal;

import io.redlatch.ClassPathConflictException;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A client that has the kinds of lock which Redisson does not have. Each kind has a class, {@link io.redlatch.TokenLock} say. */
public interface OwnKinds {
    /** @param kind the core's name of the kind */
    RLock ownLock(String kind, String name);

    /** @param kind the core's name of a kind whose holds have tokens */
    RFencedLock ownFencedLock(String kind, String name);

    /** @throws UnsupportedOperationException if the client's server has no leaders */
    LeaderSource leader(String name);

    /**
     * @param lock the name of the job's lock
     * @throws UnsupportedOperationException if the client's server is no Redis
     */
    JobSource job(String lock);

    /** The locks that are held, of all kinds. */
    LocksSource locks(String pattern);

    /**
     * Takes a lock away from the holder that a listing has found. False: that one has it no more.
     *
     * @param holders of each its client, its owner, and 1 if it writes
     * @throws UnsupportedOperationException if a lock of that kind has no such holder, or the client's server is no Redis
     */
    boolean evict(String kind, String name, String[] holders);

    /**
     * Fills in the figures of the client, in the order of the fields of {@link io.redlatch.Stats}.
     *
     * @throws org.redisson.RedissonShutdownException if the client was shut down
     */
    void stats(long[] numbers);

    /**
     * The client itself.
     *
     * @param locks the class of the locks that the caller wants, for the errors
     * @throws IllegalArgumentException if {@code client} was not made by this library
     * @throws ClassPathConflictException if that is because Redisson itself is on the class path as well
     */
    static OwnKinds of(RedissonClient client, Class<?> locks) {
        if (!(client instanceof OwnKinds)) {
            ClassPath.check(locks); // Redisson's jar comes first, so that its classes are the ones in use
            throw new IllegalArgumentException(client + " has no " + locks.getSimpleName() + "; use a client of this library, unwrapped");
        }
        return (OwnKinds) client;
    }
}

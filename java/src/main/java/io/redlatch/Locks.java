package io.redlatch;

import io.redlatch.internal.LocksSource;
import io.redlatch.internal.OwnKinds;
import io.redlatch.internal.Pages;
import java.util.Iterator;
import java.util.Objects;
import org.redisson.api.RedissonClient;

/**
 * The locks that are held and whose names match a pattern.
 *
 * <pre>{@code
 * for (HeldLock lock : Locks.of(client, "orders:*")) {
 *     System.out.println(lock.name() + " is held by " + lock.holders() + ", and " + lock.waiting() + " processes wait");
 * }
 * }</pre>
 *
 * <p>In the pattern {@code *} stands for any text, {@code ?} for one character and {@code [ab]} for one of these. A name without them is looked at
 * alone. The locks of every client are listed, Redisson's among them, and nothing is changed.
 *
 * <p>Locks that clients wait for come first. Then all keys of each server are read, with nine times as much rest: a million keys take about half a
 * minute, and other callers wait no longer than a millisecond. Of a cluster, behind sentinels and of {@code redis+replicated://} the keys of a
 * replica are read in place of its server's; the server itself then says what is locked. Locks that come or go meanwhile may be missing. Token locks, semaphores and
 * latches are texts and numbers: those are found that clients listen to, and those that are named.
 *
 * <p>Only Redis has it. A step throws {@link UnsupportedOperationException} for a client of MySQL, MariaDB or ZooKeeper. Its other failures are the
 * exceptions of {@code org.redisson}, as for locks; the next call of the same iterator goes on after one of them.
 */
public final class Locks implements Iterable<HeldLock> {
    private final LocksSource source;

    private Locks(LocksSource source) {
        this.source = source;
    }

    /**
     * The locks whose names match a pattern. Asks nothing of the server before the first step.
     *
     * @throws IllegalArgumentException if {@code client} was not made by this library
     * @throws ClassPathConflictException if that is because Redisson itself is on the class path as well
     */
    public static Locks of(RedissonClient client, String pattern) {
        Objects.requireNonNull(pattern, "the pattern of names is null; give a text, `*` for all names");
        return new Locks(OwnKinds.of(client, Locks.class).locks(pattern));
    }

    /**
     * Takes a lock away from the holder that a list has shown, and from no other one. A later hold of the same owner looks the same. Readers lose a
     * lock together, if the first one of {@link HeldLock#holders()} still reads.
     *
     * @param client may be another client than that of the list
     * @return true: the holder had the lock still, and has lost it; its client is told ({@link LostReason#DELETED}), and waiters are woken. False: it
     *         had it no more. Where an answer was lost on its way, true means that it has the lock no more
     * @throws UnsupportedOperationException for a lock of the kinds {@code multi}, {@code permits}, {@code token}, {@code semaphore} and
     *         {@code latch}, and for a client of MySQL, MariaDB or ZooKeeper
     * @throws IllegalArgumentException if {@code client} was not made by this library
     * @throws ClassPathConflictException if that is because Redisson itself is on the class path as well
     */
    public static boolean evict(RedissonClient client, HeldLock lock) {
        Objects.requireNonNull(lock, "the lock to evict is null; give one that `Locks.of` has listed");
        return OwnKinds.of(client, Locks.class).evict(lock.kind(), lock.name(), lock.holderWords());
    }

    /** Begins to list. One thread uses the iterator. */
    @Override
    public Iterator<HeldLock> iterator() {
        return new Pages<>(source, words -> new HeldLock(words, source), HeldLock::name);
    }
}

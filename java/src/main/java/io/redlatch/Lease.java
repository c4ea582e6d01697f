package io.redlatch;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.redisson.api.RLock;

/**
 * A hold that ends with a block:
 *
 * <pre>{@code
 * try (Lease lease = Lease.lock(client.getLock("orders:42"))) {
 *     charge(order);
 * } // LockLostException if the lock was lost meanwhile and the block did not fail by itself
 * }</pre>
 */
public final class Lease implements AutoCloseable {
    private static final long RENEWED = -1;
    private static final Duration SHORTEST = Duration.ofMillis(1);

    private final RLock lock;
    private final Hold hold;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Lease(RLock lock) {
        this.lock = lock;
        this.hold = Holds.of(lock);
    }

    /**
     * Waits for the lock as long as it takes, and has the hold renewed until it is closed.
     *
     * @throws IllegalArgumentException if {@code lock} was not made by this library; it is not acquired then
     */
    public static Lease lock(RLock lock) {
        Runnable undo = undoing(lock);
        lock.lock();
        return taken(lock, undo).get();
    }

    /**
     * Waits for the lock as long as it takes, and holds it for {@code lease} at most.
     *
     * @throws IllegalArgumentException unless {@code lease} is 1 ms or more, and {@code lock} was made by this library; it is not acquired then
     */
    public static Lease lock(RLock lock, Duration lease) {
        Runnable undo = undoing(lock);
        lock.lock(ms(lease), TimeUnit.MILLISECONDS);
        return taken(lock, undo).get();
    }

    /**
     * Waits for the lock for {@code wait} at most; empty if it was in vain. The hold is renewed until it is closed.
     *
     * @throws IllegalArgumentException if {@code lock} was not made by this library; it is not acquired then
     */
    public static Optional<Lease> tryLock(RLock lock, Duration wait) throws InterruptedException {
        Runnable undo = undoing(lock);
        return lock.tryLock(waiting(wait), RENEWED, TimeUnit.MILLISECONDS) ? taken(lock, undo) : Optional.empty();
    }

    /**
     * Waits for the lock for {@code wait} at most, and holds it for {@code lease} at most; empty if it was in vain.
     *
     * @throws IllegalArgumentException unless {@code lease} is 1 ms or more, and {@code lock} was made by this library; it is not acquired then
     */
    public static Optional<Lease> tryLock(RLock lock, Duration wait, Duration lease) throws InterruptedException {
        Runnable undo = undoing(lock);
        return lock.tryLock(waiting(wait), ms(lease), TimeUnit.MILLISECONDS) ? taken(lock, undo) : Optional.empty();
    }

    /** The hold: whether it is lost, its deadline, and news of its loss. */
    public Hold hold() {
        return hold;
    }

    /**
     * Gives this hold back, and no other that its owner has of the lock; the second time does nothing. Any thread may do it, at any time.
     *
     * @throws LockLostException if it was lost before
     * @throws IllegalMonitorStateException if an {@code unlock} gave it back before
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        try {
            Holds.source(lock).giveBack(hold.known());
        } catch (IllegalMonitorStateException e) {
            throw e.getCause() instanceof LockLostException ? (LockLostException) e.getCause() : e;
        }
    }

    private static Runnable undoing(RLock lock) {
        return Holds.source(lock).undoing(Thread.currentThread().getId());
    }

    private static Optional<Lease> taken(RLock lock, Runnable undo) {
        try {
            return Optional.of(new Lease(lock));
        } catch (Error e) { // of the JVM, for want of memory
            undo.run();
            throw e;
        }
    }

    /** A wait in ms; zero for one that is over. */
    static long waiting(Duration wait) {
        return Math.max(0, saturated(wait));
    }

    private static long ms(Duration lease) {
        if (lease.compareTo(SHORTEST) < 0) {
            throw new IllegalArgumentException("the lease is " + lease + ", the shortest is 1 ms; leave it out to have the lock renewed");
        }
        return saturated(lease);
    }

    /** In ms, rounded up: a short wait is a wait all the same. */
    static long saturated(Duration time) {
        if (time.compareTo(Duration.ofMillis(Long.MAX_VALUE - 1)) >= 0) {
            return Long.MAX_VALUE;
        }
        if (time.compareTo(Duration.ofMillis(Long.MIN_VALUE + 1)) <= 0) {
            return Long.MIN_VALUE;
        }
        return time.plusNanos(999_999).toMillis();
    }
}

package io.redlatch;

import io.redlatch.internal.Stages;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
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
    static final long RENEWED = -1;
    static final long FOR_EVER = Long.MAX_VALUE;
    private static final Duration SHORTEST = Duration.ofMillis(1);

    private final RLock lock;
    private final Hold hold;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Lease(RLock lock, Hold hold) {
        this.lock = lock;
        this.hold = hold;
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

    /**
     * Waits for the lock as long as it takes, without a thread, and has the hold renewed until it is closed:
     *
     * <pre>{@code
     * CompletableFuture<Receipt> receipt = Lease.during(Lease.lockAsync(client.getLock("orders:42")), lease -> charge(order));
     * }</pre>
     *
     * <p>The owner is no thread: each call is an owner of its own, which enters the lock beside no other hold, whichever threads the calls come from, and
     * any thread may close the lease. Cancelling the future, or completing it, gives the request up; a lock that was still taken goes back.
     * Derived stages, as those of {@code thenCompose}, cancel nothing; nor does {@code await()} of a coroutine that is cancelled when the lock is there already. Failures are those of {@link RLock#lockAsync()}.
     *
     * @throws IllegalArgumentException if {@code lock} was not made by this library; it is not acquired then
     */
    public static CompletableFuture<Lease> lockAsync(RLock lock) {
        return takeAsync(lock, FOR_EVER, RENEWED, Optional::get);
    }

    /**
     * As {@link #lockAsync(RLock)}, and holds it for {@code lease} at most.
     *
     * @throws IllegalArgumentException unless {@code lease} is 1 ms or more, and {@code lock} was made by this library; it is not acquired then
     */
    public static CompletableFuture<Lease> lockAsync(RLock lock, Duration lease) {
        return takeAsync(lock, FOR_EVER, ms(lease), Optional::get);
    }

    /** As {@link #lockAsync(RLock)}, and waits for {@code wait} at most; the future has an empty result if that was in vain. */
    public static CompletableFuture<Optional<Lease>> tryLockAsync(RLock lock, Duration wait) {
        return takeAsync(lock, waiting(wait), RENEWED, taken -> taken);
    }

    /**
     * As {@link #tryLockAsync(RLock, Duration)}, and holds it for {@code lease} at most.
     *
     * @throws IllegalArgumentException unless {@code lease} is 1 ms or more, and {@code lock} was made by this library; it is not acquired then
     */
    public static CompletableFuture<Optional<Lease>> tryLockAsync(RLock lock, Duration wait, Duration lease) {
        return takeAsync(lock, waiting(wait), ms(lease), taken -> taken);
    }

    /**
     * Runs {@code work} with the lease that {@code asked} brings, and closes the lease when the stage of the work is done, or when the work fails
     * before it has one. The result is that of the work. A failure of the work is told before a loss of the lock, which is suppressed in it then.
     *
     * <p>Cancelling the result while the lock is waited for gives the request up. Work that has begun goes on, and keeps the lock until its own stage is
     * done: an owner whose work goes on must not lose its lock.
     *
     * @param asked the future of {@link #lockAsync(RLock)} itself
     * @throws LockLostException in the future, if the lock was lost and the work did not fail
     */
    public static <T> CompletableFuture<T> during(CompletableFuture<Lease> asked, Function<? super Lease, ? extends CompletionStage<T>> work) {
        CompletableFuture<T> result = new CompletableFuture<>();
        result.whenComplete((value, error) -> asked.cancel(false)); // without effect on a lease that is there
        asked.whenComplete((lease, error) -> {
            if (error != null) {
                result.completeExceptionally(Stages.bare(error));
            } else if (result.isDone()) { // cancelled in this moment
                lease.closeAsync();
            } else {
                begun(lease, work).whenComplete((value, failure) ->
                        lease.closeAsync().whenComplete((nothing, loss) -> end(result, value, Stages.bare(failure), Stages.bare(loss))));
            }
        });
        return result;
    }

    private static <T> CompletionStage<T> begun(Lease lease, Function<? super Lease, ? extends CompletionStage<T>> work) {
        try {
            return Objects.requireNonNull(work.apply(lease), "the work has no stage");
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static <T> void end(CompletableFuture<T> result, T value, Throwable failure, Throwable loss) {
        if (failure == null && loss == null) {
            result.complete(value);
        } else if (failure == null) {
            result.completeExceptionally(loss);
        } else {
            if (loss != null && loss != failure) {
                failure.addSuppressed(loss);
            }
            result.completeExceptionally(failure);
        }
    }

    /** @param result of the lease; empty if the wait was in vain */
    static <V> CompletableFuture<V> takeAsync(RLock lock, long wait, long lease, Function<Optional<Lease>, V> result) {
        return Holds.source(lock).takeAsync(wait, lease, hold ->
                result.apply(Optional.ofNullable(hold).map(known -> new Lease(lock, known.seenBy(Hold::new)))));
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
            throw told(e);
        }
    }

    /**
     * As {@link #close()}, without a thread that waits. The future fails with its exceptions; the second time it is done at once. Cancelling it ends no
     * release.
     */
    public CompletableFuture<Void> closeAsync() {
        if (!closed.compareAndSet(false, true)) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> end = new CompletableFuture<>();
        Holds.source(lock).giveBackAsync(hold.known()).whenComplete((nothing, error) -> {
            if (error == null) {
                end.complete(null);
            } else {
                end.completeExceptionally(error instanceof IllegalMonitorStateException ? told((IllegalMonitorStateException) error) : error);
            }
        });
        return end;
    }

    /** The loss itself, where that is the reason. */
    private static RuntimeException told(IllegalMonitorStateException error) {
        return error.getCause() instanceof LockLostException ? (LockLostException) error.getCause() : error;
    }

    private static Runnable undoing(RLock lock) {
        return Holds.source(lock).undoing(Thread.currentThread().getId());
    }

    private static Optional<Lease> taken(RLock lock, Runnable undo) {
        try {
            return Optional.of(new Lease(lock, Holds.of(lock)));
        } catch (Error e) { // of the JVM, for want of memory
            undo.run();
            throw e;
        }
    }

    /** A wait in ms; zero for one that is over. */
    static long waiting(Duration wait) {
        return Math.max(0, saturated(wait));
    }

    static long ms(Duration lease) {
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

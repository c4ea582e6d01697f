package io.redlatch;

import io.redlatch.internal.AnswerPublisher;
import java.time.Duration;
import org.redisson.api.RLock;
import reactor.core.publisher.Mono;

/**
 * The leases of {@link Lease#lockAsync(RLock)} for Reactor, which is a library that the application brings, 3.4.14 or newer:
 *
 * <pre>{@code
 * Mono<Receipt> paid = Mono.usingWhen(ReactiveLease.lock(client.getLock("orders:42")),
 *         lease -> charge(order),
 *         ReactiveLease::close);
 * }</pre>
 *
 * <p>Each subscription is an owner of its own. It gets its lease, or has cancelled and leaves nothing held. So put {@code usingWhen} right around the
 * acquire: an operator in between, such as {@code map} or {@code timeout}, may drop a lease that it has got just when it is cancelled, and then nothing
 * closes it. {@code usingWhen} of an older Reactor may do that as well.
 */
public final class ReactiveLease {
    private ReactiveLease() {}

    /**
     * As {@link Lease#lockAsync(RLock)}.
     *
     * @throws IllegalArgumentException if {@code lock} was not made by this library
     */
    public static Mono<Lease> lock(RLock lock) {
        return of(lock, Lease.FOR_EVER, Lease.RENEWED);
    }

    /**
     * As {@link Lease#lockAsync(RLock, Duration)}.
     *
     * @throws IllegalArgumentException unless {@code lease} is 1 ms or more, and {@code lock} was made by this library
     */
    public static Mono<Lease> lock(RLock lock, Duration lease) {
        return of(lock, Lease.FOR_EVER, Lease.ms(lease));
    }

    /**
     * As {@link Lease#tryLockAsync(RLock, Duration)}; empty if the wait was in vain.
     *
     * @throws IllegalArgumentException if {@code lock} was not made by this library
     */
    public static Mono<Lease> tryLock(RLock lock, Duration wait) {
        return of(lock, Lease.waiting(wait), Lease.RENEWED);
    }

    /**
     * As {@link Lease#tryLockAsync(RLock, Duration, Duration)}; empty if the wait was in vain.
     *
     * @throws IllegalArgumentException unless {@code lease} is 1 ms or more, and {@code lock} was made by this library
     */
    public static Mono<Lease> tryLock(RLock lock, Duration wait, Duration lease) {
        return of(lock, Lease.waiting(wait), Lease.ms(lease));
    }

    private static Mono<Lease> of(RLock lock, long wait, long lease) {
        Holds.source(lock);
        return Mono.fromDirect(new AnswerPublisher<>(() -> Lease.takeAsync(lock, wait, lease, taken -> taken.orElse(null))));
    }

    /** As {@link Lease#closeAsync()}, at each subscription. */
    public static Mono<Void> close(Lease lease) {
        return Mono.fromFuture(lease::closeAsync);
    }
}

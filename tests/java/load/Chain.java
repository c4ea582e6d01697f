import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.redlatch.Hold;
import io.redlatch.Holds;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RSemaphore;

/** Futures that acquire and release by an id of their own; some are cancelled. */
final class Chain {
    private static final LockKind[] KINDS = LockKind.values();
    /** Thread ids do not come near. */
    private static final AtomicLong IDS = new AtomicLong(1_000_000_000L);

    private final Load load;
    private final Random random = ThreadLocalRandom.current();
    private final long id = IDS.incrementAndGet();
    private final long leaseMs = random.nextInt(3) == 0 ? 300 + random.nextInt(6000) : 0;
    private Use use;
    private LockKind.Made made;
    private volatile Hold hold;
    private volatile Ledger.Stay stay;
    private volatile long begun;

    private Chain(Load load) {
        this.load = load;
    }

    static void start(Load load) {
        int which = ThreadLocalRandom.current().nextInt(KINDS.length + 1);
        Chain chain = new Chain(load);
        if (which == KINDS.length) {
            chain.permits();
        } else {
            chain.lock(KINDS[which]);
        }
    }

    private void lock(LockKind kind) {
        Epoch epoch = load.epochs.use();
        List<Party> parties = load.parties(kind, random);
        use = new Use(load, kind.name().toLowerCase(), "chain", epoch, parties, null);
        begun = System.nanoTime();
        follow(() -> {
            made = kind.make(parties, epoch.prefix, random);
            return acquire(made.lock);
        }, () -> { }, this::inside);
    }

    private RFuture<?> acquire(RLock lock) {
        switch (random.nextInt(3)) {
            case 0:
                return leaseMs == 0 ? lock.lockAsync(id) : lock.lockAsync(leaseMs, MILLISECONDS, id);
            case 1:
                return lock.tryLockAsync(random.nextInt(2000), leaseMs == 0 ? -1 : leaseMs, MILLISECONDS, id);
            default:
                return leaseMs == 0 ? lock.tryLockAsync(id) : lock.tryLockAsync(0, leaseMs, MILLISECONDS, id);
        }
    }

    private void maybeCancel(RFuture<?> acquire) {
        if (random.nextInt(5) == 0) {
            CompletableFuture.delayedExecutor(random.nextInt(200), MILLISECONDS).execute(() -> {
                use.cancelling();
                if (acquire.cancel(true)) {
                    use.count("cancelled");
                }
            });
        }
    }

    private CompletableFuture<Void> inside() {
        try {
            hold = Holds.of(made.lock, id);
            stay = load.ledger.enter(made.shares, hold::isLost, use + " with id " + id);
        } catch (Throwable e) {
            use.failed("stay", e, hold != null && hold.isLost());
        }
        return after(random.nextInt(10) == 0 ? random.nextInt(800) : random.nextInt(5)).thenCompose(nothing -> {
            if (stay != null) {
                stay.leave();
            }
            return made.lock.unlockAsync(id).toCompletableFuture().handle((released, error) -> {
                if (error != null) {
                    use.failed("unlock", error, hold != null && hold.isLost());
                }
                if (hold != null && hold.isLost()) {
                    use.lost(hold, begun, leaseMs);
                }
                return null;
            });
        });
    }

    private void permits() {
        Epoch epoch = load.epochs.use();
        Party party = load.clients.any(random);
        use = new Use(load, "semaphore", "chain", epoch, List.of(party), null);
        String name = epoch.prefix + "semaphore" + random.nextInt(2);
        RSemaphore semaphore = party.client.getSemaphore(name);
        follow(() -> semaphore.tryAcquireAsync(1, Duration.ofMillis(random.nextInt(1000))), () -> {
            if (use.isClosing() || use.hasFault()) {
                epoch.unknownPermits.incrementAndGet();
            }
        }, () -> {
            stay = load.ledger.enter(List.of(new Share(party.server + "/" + name, 1, Epoch.PERMITS)), () -> false, use + "");
            return after(random.nextInt(5)).thenCompose(nothing -> {
                stay.leave();
                return semaphore.releaseAsync();
            }).exceptionally(failure -> {
                use.failed("release", failure, false);
                epoch.unknownPermits.incrementAndGet();
                return null;
            });
        });
    }

    /**
     * Acquires, and goes on if that has succeeded. The use ends with the last step.
     *
     * @param acquire begins the acquire
     * @param failed is run if the acquire fails after it has begun
     * @param inside goes on until after the release
     */
    private void follow(Supplier<RFuture<?>> acquire, Runnable failed, Supplier<CompletableFuture<Void>> inside) {
        RFuture<?> acquired;
        try {
            acquired = acquire.get();
        } catch (Throwable e) {
            use.failed("acquire", e, false);
            use.end();
            return;
        }
        maybeCancel(acquired);
        acquired.toCompletableFuture().handle((taken, error) -> {
            if (error != null) {
                use.failed("acquire", error, false);
                failed.run();
                return CompletableFuture.<Void>completedFuture(null);
            }
            if (Boolean.FALSE.equals(taken)) {
                use.count("not now");
                return CompletableFuture.<Void>completedFuture(null);
            }
            use.count("acquired");
            return inside.get();
        }).thenCompose(end -> end).whenComplete((nothing, error) -> {
            if (error != null) {
                use.failed("chain", error, false);
            }
            use.end();
        });
    }

    /** On the common pool, as continuations of applications often are. */
    private static CompletableFuture<Void> after(int ms) {
        return CompletableFuture.runAsync(() -> { }, CompletableFuture.delayedExecutor(ms, MILLISECONDS));
    }
}

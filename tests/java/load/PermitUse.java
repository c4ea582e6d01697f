import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;

/** A thread that takes permits of a semaphore of either kind, stays for a while, and gives them back. */
final class PermitUse {
    private final Load load;
    private final Random random = ThreadLocalRandom.current();
    private Use use;
    private Party party;

    private PermitUse(Load load) {
        this.load = load;
    }

    static void run(Load load, String style) {
        new PermitUse(load).start(style);
    }

    private void start(String style) {
        Epoch epoch = load.epochs.use();
        party = load.clients.any(random);
        boolean plain = random.nextBoolean();
        use = new Use(load, plain ? "semaphore" : "permits", style, epoch, List.of(party), Thread.currentThread());
        try {
            if (plain) {
                plain(epoch);
            } else {
                withIds(epoch);
            }
        } finally {
            use.end();
        }
    }

    private void plain(Epoch epoch) {
        String name = epoch.prefix + "semaphore" + random.nextInt(2);
        RSemaphore semaphore = party.client.getSemaphore(name);
        int permits = 1 + random.nextInt(Epoch.PERMITS);
        boolean taken;
        try {
            semaphore.trySetPermits(Epoch.PERMITS);
        } catch (Throwable e) {
            use.failed("trySetPermits", e, false);
            return;
        }
        try {
            if (random.nextBoolean()) {
                semaphore.acquire(permits);
                taken = true;
            } else {
                taken = semaphore.tryAcquire(permits, Duration.ofMillis(random.nextInt(1500)));
            }
        } catch (Throwable e) {
            use.failed("acquire", e, false);
            unknown(permits);
            return;
        }
        use.count(taken ? "acquired" : "not now");
        if (!taken) {
            return;
        }
        stay(name, permits, () -> false);
        try {
            semaphore.release(permits);
        } catch (Throwable e) {
            use.failed("release", e, false);
            use.epoch.unknownPermits.addAndGet(permits);
        }
    }

    /** A client that is shut down, or whose server is silent, may keep permits that no thread knows of. */
    private void unknown(int permits) {
        if (use.isClosing() || use.hasFault()) {
            use.epoch.unknownPermits.addAndGet(permits);
        }
    }

    private void withIds(Epoch epoch) {
        String name = epoch.prefix + "permits" + random.nextInt(2);
        RPermitExpirableSemaphore semaphore = party.client.getPermitExpirableSemaphore(name);
        long leaseMs = random.nextBoolean() ? -1 : 500 + random.nextInt(5000);
        long begun;
        String id;
        try {
            semaphore.trySetPermits(Epoch.PERMITS);
        } catch (Throwable e) {
            use.failed("trySetPermits", e, false);
            return;
        }
        begun = System.nanoTime();
        try {
            id = random.nextBoolean() ? semaphore.acquire(leaseMs, MILLISECONDS) : semaphore.tryAcquire(random.nextInt(1500), leaseMs, MILLISECONDS);
        } catch (Throwable e) {
            use.failed("acquire", e, false);
            if (use.isClosing() || use.hasFault()) {
                epoch.unknownIds.incrementAndGet();
            }
            return;
        }
        use.count(id == null ? "not now" : "acquired");
        if (id == null) {
            return;
        }
        // The server's lease began later than this one, so that it ends later.
        stay(name, 1, () -> leaseMs > 0 && System.nanoTime() - begun > MILLISECONDS.toNanos(leaseMs) - MILLISECONDS.toNanos(100));
        giveBack(epoch, name, id, leaseMs > 0);
    }

    /** Any client may give a permit back. */
    private void giveBack(Epoch epoch, String name, String id, boolean leased) {
        RPermitExpirableSemaphore semaphore = party.client.getPermitExpirableSemaphore(name);
        for (int attempt = 0; attempt < 20; attempt++) {
            try {
                if (!semaphore.tryRelease(id)) {
                    use.count("was given back");
                    if (!leased && attempt == 0) {
                        load.verdict.fail(use + ": a permit without a lease was not out any more");
                    }
                }
                return;
            } catch (Throwable e) {
                use.failed("release", e, false);
                LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
                Party other = load.clients.any(random);
                if (other.server == party.server) {
                    use.helpedBy(other);
                    semaphore = other.client.getPermitExpirableSemaphore(name);
                }
            }
        }
        epoch.unknownIds.incrementAndGet();
    }

    private void stay(String name, int permits, BooleanSupplier lost) {
        Ledger.Stay stay = load.ledger.enter(List.of(new Share(party.server + "/" + name, permits, Epoch.PERMITS)), lost,
                use + " in " + Thread.currentThread().getName());
        LockSupport.parkNanos(MILLISECONDS.toNanos(random.nextInt(20) == 0 ? random.nextInt(1000) : random.nextInt(10)));
        stay.leave();
    }
}

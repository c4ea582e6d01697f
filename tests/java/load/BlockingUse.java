import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.redlatch.Hold;
import io.redlatch.Holds;
import io.redlatch.Lease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;

/** A thread that acquires a lock, stays for a while, and gives it back. */
final class BlockingUse {
    private static final LockKind[] KINDS = LockKind.values();
    private static final int WAYS = 8;
    private static final int LONG_LEASE_MS = 8000;

    private final Load load;
    private final Random random = ThreadLocalRandom.current();
    private Use use;
    private LockKind.Made made;
    private long leaseMs;
    private Lease lease;

    private BlockingUse(Load load) {
        this.load = load;
    }

    /** @param style what sort of thread this is */
    static void run(Load load, String style) {
        int which = ThreadLocalRandom.current().nextInt(KINDS.length + 2);
        if (which >= KINDS.length) {
            PermitUse.run(load, style);
        } else {
            new BlockingUse(load).run(KINDS[which], style);
        }
    }

    private void run(LockKind kind, String style) {
        Epoch epoch = load.epochs.use();
        List<Party> parties = load.parties(kind, random);
        use = new Use(load, kind.name().toLowerCase(), style, epoch, parties, Thread.currentThread());
        try {
            made = kind.make(parties, epoch.prefix, random);
            long begun = System.nanoTime();
            if (acquire()) {
                use.count("acquired");
                stay(kind, begun);
            } else {
                use.count("not now");
            }
        } catch (Throwable e) {
            use.failed("acquire", e, false);
        } finally {
            use.end();
        }
    }

    private boolean acquire() throws InterruptedException {
        RLock lock = made.lock;
        switch (random.nextInt(WAYS)) {
            case 0:
                lock.lock();
                return true;
            case 1:
                leaseMs = 300 + random.nextInt(LONG_LEASE_MS);
                lock.lock(leaseMs, MILLISECONDS);
                return true;
            case 2:
                lock.lockInterruptibly();
                return true;
            case 3:
                return lock.tryLock();
            case 4:
                return lock.tryLock(random.nextInt(2000), MILLISECONDS);
            case 5:
                leaseMs = 300 + random.nextInt(LONG_LEASE_MS);
                return lock.tryLock(random.nextInt(2000), leaseMs, MILLISECONDS);
            case 6:
                lease = Lease.lock(lock);
                return true;
            default:
                Optional<Lease> found = Lease.tryLock(lock, Duration.ofMillis(random.nextInt(2000)));
                lease = found.orElse(null);
                return lease != null;
        }
    }

    private void stay(LockKind kind, long begun) {
        Hold hold = null;
        Ledger.Stay stay = null;
        try {
            hold = lease == null ? Holds.of(made.lock) : lease.hold();
            stay = load.ledger.enter(made.shares, hold::isLost, use + " in " + Thread.currentThread().getName());
            if (made.lock instanceof RFencedLock) {
                load.ledger.token(made.parties.get(0).server + "/" + made.name, hold.token().orElse(0), hold::isLost);
            }
            LockSupport.parkNanos(stayNanos());
            if (kind.reenters && lease == null && random.nextInt(6) == 0) {
                enterAgain();
            }
        } catch (Throwable e) {
            use.failed("stay", e, hold != null && hold.isLost());
        } finally {
            if (stay != null) {
                stay.leave();
            }
        }
        giveBack(hold, begun);
    }

    private void enterAgain() {
        if (leaseMs > 0) {
            made.lock.lock(leaseMs, MILLISECONDS);
        } else {
            made.lock.lock();
        }
        use.count("entered again");
        made.lock.unlock();
    }

    private void giveBack(Hold hold, long begun) {
        try {
            if (lease != null) {
                lease.close();
            } else {
                made.lock.unlock();
            }
        } catch (Throwable e) {
            use.failed("unlock", e, hold != null && hold.isLost());
        }
        if (hold != null && hold.isLost()) {
            use.lost(hold, begun, leaseMs);
        }
    }

    /** Mostly short, sometimes longer than some leases, seldom longer than the watchdog's time. */
    private long stayNanos() {
        int draw = random.nextInt(400);
        int ms = draw == 0 ? Clients.WATCHDOG_MS + 3000 : draw < 4 ? random.nextInt(1500) : draw < 40 ? random.nextInt(100) : random.nextInt(4);
        return TimeUnit.MILLISECONDS.toNanos(ms);
    }
}

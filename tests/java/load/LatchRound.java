import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.redisson.api.RCountDownLatch;

/** A latch with a name of its own: waiters go on when all have counted, and not before. */
final class LatchRound {
    private static final int PARTIES = 3;
    /** So long after a call has failed, the server ignores every copy of it. */
    private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final int ATTEMPTS = 100;

    private final Load load;
    private final Use use;
    private final String name;
    private final List<Party> parties = new ArrayList<>();
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();

    private LatchRound(Load load, int number) {
        this.load = load;
        Epoch epoch = load.epochs.use();
        Party first = load.clients.any(ThreadLocalRandom.current());
        while (parties.size() < PARTIES) {
            Party other = load.clients.any(ThreadLocalRandom.current());
            if (other.server == first.server) {
                parties.add(other);
            }
        }
        name = epoch.prefix + "latch" + number;
        use = new Use(load, "latch", "fixed", epoch, parties, null);
    }

    /** Plays a round; its tasks run on {@code pool}. */
    static void run(Load load, int number, Executor pool) {
        LatchRound round = new LatchRound(load, number);
        try {
            round.play(pool);
        } finally {
            round.use.end();
        }
    }

    private void play(Executor pool) {
        if (!step("trySetCount", () -> latch(0).trySetCount(PARTIES))) {
            remove();
            return;
        }
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < PARTIES; i++) {
            int party = i;
            all.add(CompletableFuture.runAsync(() -> await(party), pool));
        }
        for (int i = 0; i < PARTIES; i++) {
            int party = i;
            all.add(CompletableFuture.runAsync(() -> {
                begun.incrementAndGet();
                if (!step("countDown", () -> latch(party).countDown())) {
                    failed.incrementAndGet();
                }
            }, pool));
        }
        CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0])).join();
        if (failed.get() > 0) {
            remove();
        }
    }

    /** A call that failed may have set the latch, or counted: no later round could tell. Its copy may also come after the first deletion. */
    private void remove() {
        delete();
        LockSupport.parkNanos(LATE_NANOS);
        delete();
    }

    private void delete() {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Party other = load.clients.any(ThreadLocalRandom.current(), parties.get(0).server);
            try {
                other.client.getCountDownLatch(name).delete();
                return;
            } catch (RuntimeException e) {
                LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
            }
        }
    }

    private void await(int party) {
        step("await", () -> {
            boolean open = latch(party).await(15, TimeUnit.SECONDS);
            use.count(open ? "opened" : "not now");
            if (open && begun.get() < PARTIES) {
                load.verdict.fail(use + ": opened after " + begun + " of " + PARTIES);
            }
            if (!open && failed.get() == 0 && !use.hasFault() && !use.isClosing()) {
                load.verdict.fail(use + ": did not open within 15 s");
            }
        });
    }

    private RCountDownLatch latch(int party) {
        return parties.get(party).client.getCountDownLatch(name);
    }

    private interface Step {
        void run() throws Exception;
    }

    private boolean step(String operation, Step step) {
        try {
            step.run();
            return true;
        } catch (Throwable e) {
            use.failed(operation, e, false);
            return false;
        }
    }
}

import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** The objects that all parts of the load share. */
final class Load {
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);

    final Verdict verdict;
    final Ledger ledger;
    final Faults faults;
    final Clients clients;
    final Epochs epochs;
    final Set<Use> running = ConcurrentHashMap.newKeySet();
    private final Queue<Suspect> suspects = new ConcurrentLinkedQueue<>();
    private final CountDownLatch end = new CountDownLatch(1);

    Load(TestServer[] servers, long seed) {
        verdict = new Verdict();
        ledger = new Ledger(verdict);
        faults = new Faults(servers, this, seed);
        clients = new Clients(servers, this, seed + 1);
        epochs = new Epochs(servers, this);
    }

    /** Notes a failure that a fault may still explain: the end of a delay is known later than its effects. */
    void suspect(String text, BooleanSupplier isExplained) {
        suspects.add(new Suspect(text, isExplained));
    }

    void judgeSuspects() {
        suspects.removeIf(each -> {
            if (each.isExplained.getAsBoolean()) {
                return true;
            }
            boolean isDue = System.nanoTime() - each.since > PATIENCE_NANOS;
            if (isDue) {
                verdict.fail(each.text);
            }
            return isDue;
        });
    }

    boolean hasSuspects() {
        return !suspects.isEmpty();
    }

    private static final class Suspect {
        private final String text;
        private final BooleanSupplier isExplained;
        private final long since = System.nanoTime();

        private Suspect(String text, BooleanSupplier isExplained) {
            this.text = text;
            this.isExplained = isExplained;
        }
    }

    boolean isOver() {
        return end.getCount() == 0;
    }

    void end() {
        end.countDown();
    }

    /** Waits for {@code ms}, at most until the end of the load; whether the load goes on. */
    boolean goesOn(long ms) {
        try {
            return !end.await(ms, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            return !isOver(); // it was meant for a use that has ended
        }
    }

    /** The clients for a lock of {@code kind}. */
    List<Party> parties(LockKind kind, Random random) {
        return kind == LockKind.RED ? clients.ofEach(random) : List.of(clients.any(random));
    }
}

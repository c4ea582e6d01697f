import io.redlatch.Hold;
import io.redlatch.LostReason;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** One use of a lock: what it has met so far, and whether that is explained. */
final class Use {
    final String kind;
    final String style;
    final Epoch epoch;
    final List<Party> parties;
    final Thread thread;
    final long begun = System.nanoTime();
    private final Load load;
    private boolean interrupted;
    private boolean cancelled;
    private boolean ended;

    /** @param thread null: no thread waits, a future does */
    Use(Load load, String kind, String style, Epoch epoch, List<Party> parties, Thread thread) {
        this.load = load;
        this.kind = kind;
        this.style = style;
        this.epoch = epoch;
        this.parties = new CopyOnWriteArrayList<>(parties);
        this.thread = thread;
        load.running.add(this);
    }

    synchronized void interrupt() {
        if (!ended && thread != null) {
            interrupted = true;
            thread.interrupt();
            load.verdict.count("interrupts", "sent");
        }
    }

    /** From now on it uses the client of {@code party} as well, which may be shut down meanwhile. */
    void helpedBy(Party party) {
        parties.add(party);
    }

    synchronized void cancelling() {
        cancelled = true;
    }

    /** Whether it waits for permits that a fault may have made away with for good. */
    boolean mayStarve() {
        return kind.equals("semaphore") && epoch.unknownPermits.get() > 0 || kind.equals("permits") && epoch.unknownIds.get() > 0;
    }

    /** From now on no interrupt comes. */
    synchronized void end() {
        ended = true;
        if (thread != null) {
            Thread.interrupted();
        }
        load.running.remove(this);
        epoch.uses.decrementAndGet();
    }

    void count(String outcome) {
        load.verdict.count(kind, outcome);
    }

    boolean isClosing() {
        return parties.stream().anyMatch(each -> each.closing);
    }

    boolean hasFault() {
        return load.faults.explain(parties, begun, System.nanoTime());
    }

    /** @param lost whether the hold is known to be lost */
    void failed(String operation, Throwable error, boolean lost) {
        Throwable bare = error;
        while ((bare instanceof CompletionException || bare instanceof ExecutionException) && bare.getCause() != null) {
            bare = bare.getCause();
        }
        String type = bare.getClass().getSimpleName(); // by name: it may be of another class loader
        count(type);
        long until = System.nanoTime();
        if (!isExplained(type, lost, until)) {
            StringBuilder trace = new StringBuilder();
            for (StackTraceElement each : bare.getStackTrace()) {
                trace.append("\n      at ").append(each);
            }
            String text = this + ": " + operation + " gave " + bare + " after " + age() + " ms, because of " + bare.getCause() + trace;
            load.suspect(text, () -> isExplained(type, lost, until));
        }
    }

    private synchronized boolean isExplained(String type, boolean lost, long until) {
        switch (type) {
            case "InterruptedException":
                return interrupted;
            case "CancellationException":
                return cancelled;
            case "RedissonShutdownException":
                return isClosing();
            case "IllegalMonitorStateException":
            case "LockLostException":
                return lost || isClosing();
            case "RedisConnectionException":
            case "RedisTimeoutException":
            case "RedisResponseTimeoutException":
            case "RedisLoadingException":
                return load.faults.explain(parties, begun, until);
            default:
                return false;
        }
    }

    /**
     * A hold was lost, which must have a cause.
     *
     * @param leaseMs 0: it was renewed
     */
    void lost(Hold hold, long taken, long leaseMs) {
        LostReason reason = hold.reason().orElse(null);
        count("lost: " + reason);
        boolean leaseOver = leaseMs > 0 && TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - taken) >= leaseMs * 95 / 100 - 5;
        long until = System.nanoTime();
        if (!leaseOver && !isClosing()) {
            load.suspect(this + ": lost without a cause, " + reason + ", " + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - taken)
                    + " ms after the acquire, lease " + leaseMs + " ms",
                    () -> load.faults.explainLoss(parties, taken, until) || reason == LostReason.PAUSED && load.faults.explain(parties, taken, until));
        }
    }

    long age() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
    }

    @Override
    public String toString() {
        return kind + " by " + style + " of " + epoch.prefix;
    }
}

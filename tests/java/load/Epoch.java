import java.util.concurrent.atomic.AtomicInteger;

/** Names that are used for some minutes; once they are not, nothing may be left of them on any server. */
final class Epoch {
    static final int PERMITS = 3;

    final String prefix;
    final AtomicInteger uses = new AtomicInteger();
    /** How many permits of plain semaphores may be gone: the outcome of their release, or of their acquire, is unknown. */
    final AtomicInteger unknownPermits = new AtomicInteger();
    /** How many permits without a lease may be out for good. */
    final AtomicInteger unknownIds = new AtomicInteger();

    Epoch(int number) {
        prefix = "e" + number + ":";
    }
}

import io.redlatch.Redlatch;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;

/**
 * A table that refuses a writer whose lock is over: a write compares the fencing token. A class stands for the row; in SQL it is
 * {@code update … where last_token <= ?}.
 */
public final class Ledger {
    private long balance = 100;
    private long lastToken;

    private Ledger() {}

    /** Whether the row took it: never from a holder that is older than the last writer. */
    private synchronized boolean write(long newBalance, long token) {
        if (token < lastToken) {
            return false;
        }
        balance = newBalance;
        lastToken = token;
        return true;
    }

    public static void main(String[] arguments) {
        String url = System.getenv().getOrDefault("REDLATCH_URL", "redis://localhost:6379");
        RedissonClient one = Redlatch.connect(url);
        RedissonClient two = Redlatch.connect(url);
        try {
            Ledger row = new Ledger();
            long old = one.getFencedLock("example:ledger:7").lockAndGetToken();

            // While the first process stands still its lock is lost; here an operator takes it.
            RFencedLock lock = two.getFencedLock("example:ledger:7");
            lock.forceUnlock();
            long token = lock.lockAndGetToken();
            try {
                System.out.println("the new writer is taken: " + row.write(row.balance - 10, token));
            } finally {
                lock.unlock();
            }

            // The first process goes on with what it read before.
            System.out.println("the old writer is refused: " + !row.write(50, old));
            if (row.balance != 90) {
                throw new IllegalStateException("the balance is " + row.balance);
            }
        } finally {
            one.shutdown();
            two.shutdown();
        }
    }
}

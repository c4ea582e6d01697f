import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Releases after the commit, so that the next holder sees what was written. */
final class AfterCommit implements SmallProgram {
    private final List<String> order = Collections.synchronizedList(new ArrayList<>());
    private RLock lock;

    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        lock = redisson.getLock("invoice:42");
        TransactionTemplate transaction = new TransactionTemplate(new Ledger());
        String number = transaction.execute(status -> {
            lockUntilEnd();
            order.add("written, held " + lock.isHeldByCurrentThread());
            return "2026-1";
        });
        show.line("committed", number, order, lock.isLocked());
        order.clear();
        show.of("failed", () -> transaction.execute(status -> {
            lockUntilEnd();
            throw new IllegalArgumentException("no such invoice");
        }));
        show.line("rolled back", order, lock.isLocked());
        order.clear();
        lock.lock(10, TimeUnit.SECONDS);
        show.line("inside a longer hold", transaction.execute(status -> {
            lockUntilEnd();
            return lock.getHoldCount();
        }), order, lock.getHoldCount());
        lock.unlock();
        show.line("free", lock.isLocked());
    }

    private void lockUntilEnd() {
        lock.lock();
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCompletion(int status) {
                order.add("ended, held " + lock.isHeldByCurrentThread());
                lock.unlock();
            }
        });
    }

    /** Stands for the database: it says when it commits. */
    private final class Ledger extends AbstractPlatformTransactionManager {
        private static final long serialVersionUID = 1;

        @Override
        protected Object doGetTransaction() {
            return new Object();
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {}

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            order.add("commit, held " + lock.isHeldByCurrentThread());
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            order.add("roll back, held " + lock.isHeldByCurrentThread());
        }
    }
}

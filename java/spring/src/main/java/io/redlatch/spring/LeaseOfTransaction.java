package io.redlatch.spring;

import io.redlatch.Lease;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** A lease that ends with the transaction of the thread. Apart, for programs without spring-tx. */
final class LeaseOfTransaction implements TransactionSynchronization {
    private final Lease lease;

    private LeaseOfTransaction(Lease lease) {
        this.lease = lease;
    }

    /** False: the thread has no transaction. */
    static boolean takesOver(Lease lease) {
        if (!TransactionSynchronizationManager.isActualTransactionActive() || !TransactionSynchronizationManager.isSynchronizationActive()) {
            return false;
        }
        TransactionSynchronizationManager.registerSynchronization(new LeaseOfTransaction(lease));
        return true;
    }

    /** After what others do at the end of the transaction, which is work under the lock as well. */
    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE;
    }

    /** The transaction rolls back work that was done without the lock. */
    @Override
    public void beforeCommit(boolean readOnly) {
        lease.hold().ensure();
    }

    @Override
    public void afterCompletion(int status) {
        lease.close();
    }
}

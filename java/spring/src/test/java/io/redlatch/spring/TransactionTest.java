package io.redlatch.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.LockLostException;
import io.redlatch.Stats;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Locks beside transactions of a database. */
class TransactionTest extends LockedTest {
    private static ConfigurableApplicationContext application;
    private static Accounts accounts;
    private static TransactionTemplate transactions;

    @Configuration(proxyBeanMethods = false)
    @Import(Whole.class)
    static class Bank {
        @Bean
        Accounts accounts(JdbcTemplate database) {
            return new Accounts(database);
        }
    }

    /** The advice of transactions goes before all others that have an order. */
    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = Ordered.HIGHEST_PRECEDENCE)
    @Import(Bank.class)
    static class OtherOrder {
    }

    @BeforeAll
    static void start() {
        application = Apps.start(Bank.class, properties());
        accounts = application.getBean(Accounts.class);
        transactions = new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    /** The caller's transaction is about to be committed, and tells whether the lock is held after that. */
    private boolean[] heldAtTheEnd() {
        boolean[] held = new boolean[1];
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCompletion(int status) {
                held[0] = lock.isLocked();
            }
        });
        return held;
    }

    /** A thread waits for the lock, and tells how many rows it sees as soon as it has it. */
    private CompletableFuture<Long> seen(Accounts accounts) {
        return call(() -> {
            lock.lock();
            try {
                return accounts.count(id);
            } finally {
                lock.unlock();
            }
        });
    }

    @Test
    void the_next_holder_sees_what_the_method_has_committed() throws Exception {
        for (Class<?> order : new Class<?>[] {Bank.class, OtherOrder.class}) {
            try (var other = Apps.start(order, properties())) {
                Accounts bank = other.getBean(Accounts.class);
                boolean[][] held = new boolean[1][];
                CompletableFuture<Long> seen = new CompletableFuture<>();
                bank.open(id, () -> {
                    assertTrue(TransactionSynchronizationManager.isActualTransactionActive());
                    held[0] = heldAtTheEnd();
                    call(() -> seen.complete(end(seen(bank))));
                    return null;
                });
                assertEquals(1, end(seen));
                assertTrue(held[0][0], "after the commit the lock is held");
            }
        }
    }

    @Test
    void a_rollback_comes_before_the_release_as_well() throws Exception {
        boolean[][] held = new boolean[1][];
        CompletableFuture<Long> seen = new CompletableFuture<>();
        assertThrows(IllegalStateException.class, () -> accounts.open(id, () -> {
            held[0] = heldAtTheEnd();
            call(() -> seen.complete(end(seen(accounts))));
            throw new IllegalStateException("of the method");
        }));
        assertEquals(0, end(seen));
        assertTrue(held[0][0], "after the rollback the lock is held");
        assertFalse(lock.isLocked());
    }

    @Test
    void in_a_transaction_of_the_caller_the_lock_is_held_until_that_is_committed() throws Exception {
        CompletableFuture<Long> seen = new CompletableFuture<>();
        transactions.executeWithoutResult(status -> {
            accounts.insert(id);
            accounts.insert(id);
            assertTrue(lock.isLocked(), "after the method the lock is held");
            call(() -> seen.complete(end(seen(accounts))));
        });
        assertEquals(2, end(seen));
        assertFalse(lock.isLocked());
    }

    @Test
    void in_a_transaction_of_the_caller_the_lock_is_held_until_that_is_rolled_back() throws Exception {
        CompletableFuture<Long> seen = new CompletableFuture<>();
        transactions.executeWithoutResult(status -> {
            accounts.insert(id);
            status.setRollbackOnly();
            assertTrue(lock.isLocked());
            call(() -> seen.complete(end(seen(accounts))));
        });
        assertEquals(0, end(seen));
        assertFalse(lock.isLocked());
    }

    @Test
    void a_transaction_of_the_caller_whose_lock_is_lost_is_rolled_back() {
        assertThrows(LockLostException.class, () -> transactions.executeWithoutResult(status -> {
            accounts.insert(id);
            lock.forceUnlock();
            assertTrue(isTold());
        }));
        assertEquals(0, accounts.count(id));
    }

    @Test
    void another_application_cannot_have_the_lock_between_the_methods_end_and_the_commit() throws Exception {
        try (var other = Apps.start(Bank.class, properties())) {
            CountDownLatch inserted = new CountDownLatch(1);
            CountDownLatch tried = new CountDownLatch(1);
            CompletableFuture<Void> call = call(() -> {
                transactions.executeWithoutResult(status -> {
                    accounts.insert(id);
                    inserted.countDown();
                    assertTrue(waits(tried));
                });
                return null;
            });
            inserted.await();
            assertThrows(LockBusyException.class, () -> other.getBean(Accounts.class).insert(id));
            tried.countDown();
            end(call);
            other.getBean(Accounts.class).insert(id);
        }
    }

    /** The client has heard of a loss. */
    private static boolean isTold() {
        RedissonClient client = application.getBean(RedissonClient.class);
        try {
            Wait.until("the loss is known", () -> Stats.of(client).lost().values().stream().anyMatch(number -> number > 0));
            return true;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static boolean waits(CountDownLatch latch) {
        try {
            latch.await();
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }
}

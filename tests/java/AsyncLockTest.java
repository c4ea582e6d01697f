import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.redisson.api.RFuture;

/** The reentrant lock by futures, with thread ids that the caller names. */
class AsyncLockTest extends LockTest {
    private static final long ALICE = 1_000_001;
    private static final long BOB = 1_000_002;

    @Test
    void a_hold_belongs_to_the_thread_id_that_was_named() throws Exception {
        get(lock.lockAsync(ALICE));
        assertTrue(lock.isHeldByThread(ALICE));
        assertTrue(get(lock.isHeldByThreadAsync(ALICE)));
        assertFalse(get(lock.isHeldByThreadAsync(BOB)));
        assertFalse(lock.isHeldByCurrentThread());
        assertFalse(get(lock.tryLockAsync(BOB)));
        assertTrue(get(lock.tryLockAsync(ALICE)));
        get(lock.unlockAsync(ALICE));
        assertTrue(lock.isHeldByThread(ALICE));
        get(lock.unlockAsync(ALICE));
        assertFalse(get(lock.isLockedAsync()));
    }

    @Test
    void without_a_thread_id_the_hold_belongs_to_the_calling_thread() throws Exception {
        get(lock.lockAsync());
        assertTrue(get(lock.tryLockAsync()));
        assertEquals(2, lock.getHoldCount());
        assertEquals(2, get(lock.getHoldCountAsync()));
        lock.unlock();
        get(lock.unlockAsync());
        assertFalse(lock.isLocked());
    }

    @Test
    void leases_and_waits_mean_what_they_mean_to_threads() throws Exception {
        get(lock.lockAsync(20, SECONDS, ALICE));
        long remaining = get(lock.remainTimeToLiveAsync());
        assertTrue(remaining > 15_000 && remaining <= 20_000);
        assertFalse(get(lock.tryLockAsync(50, MILLISECONDS)));
        assertFalse(get(lock.tryLockAsync(50, 1000, MILLISECONDS)));
        assertFalse(get(lock.tryLockAsync(50, 1000, MILLISECONDS, BOB)));
        RFuture<Boolean> waiting = lock.tryLockAsync(Long.MAX_VALUE, 1, SECONDS, BOB);
        Wait.until("it waits", () -> server.listeners(name) == 1);
        get(lock.unlockAsync(ALICE));
        assertTrue(get(waiting));
        assertTrue(lock.remainTimeToLive() <= 1000);
    }

    @Test
    void lockAsync_with_a_lease_holds_for_the_calling_thread() throws Exception {
        get(lock.lockAsync(20, SECONDS));
        assertTrue(lock.isHeldByCurrentThread());
        assertTrue(lock.remainTimeToLive() <= 20_000);
    }

    @Test
    void unlockAsync_of_another_thread_id_names_the_thread_and_the_lock() throws Exception {
        get(lock.lockAsync(ALICE));
        Throwable error = assertThrows(ExecutionException.class, () -> get(lock.unlockAsync(BOB))).getCause();
        assertInstanceOf(IllegalMonitorStateException.class, error);
        assertEquals(UnlockTest.words(client, BOB, name), error.getMessage());
        assertTrue(lock.isHeldByThread(ALICE));
    }

    @Test
    void forceUnlockAsync_takes_the_lock_away() throws Exception {
        get(lock.lockAsync(ALICE));
        assertTrue(get(lock.forceUnlockAsync()));
        assertFalse(get(lock.forceUnlockAsync()));
        assertEquals(-2, get(lock.remainTimeToLiveAsync()));
    }

    @Test
    void a_lease_of_more_than_a_century_fails_the_future() {
        RFuture<Void> future = lock.lockAsync(Long.MAX_VALUE, SECONDS, ALICE);
        assertInstanceOf(IllegalArgumentException.class, assertThrows(ExecutionException.class, () -> get(future)).getCause());
    }

    @Test
    void a_thousand_futures_wait_with_one_subscription_and_all_come() throws Exception {
        get(lock.lockAsync(ALICE));
        RFuture<?>[] futures = new RFuture<?>[1000];
        for (int i = 0; i < futures.length; i++) {
            long id = BOB + i;
            futures[i] = (RFuture<?>) lock.lockAsync(id);
            futures[i].whenComplete((value, error) -> lock.unlockAsync(id));
        }
        Wait.until("they wait", () -> server.listeners(name) == 1);
        get(lock.unlockAsync(ALICE));
        for (RFuture<?> future : futures) {
            get(future);
        }
        Wait.until("the last has released", () -> !lock.isLocked());
    }

    private static <V> V get(RFuture<V> future) throws Exception {
        return future.get(20, SECONDS);
    }
}

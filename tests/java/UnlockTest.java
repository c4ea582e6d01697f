import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.LockLostException;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** Releasing: what is not held, what is lost, and what is taken away. */
class UnlockTest extends LockTest {
    @Test
    void unlock_without_holding_has_the_words_of_redisson() {
        Throwable error = assertThrows(IllegalMonitorStateException.class, lock::unlock);
        assertEquals(words(Thread.currentThread().getId()), error.getMessage());
        assertNull(error.getCause());
    }

    @Test
    void unlock_by_another_thread_is_refused_and_changes_nothing() throws Exception {
        lock.lock();
        Throwable error = Worker.elsewhere(() -> assertThrows(IllegalMonitorStateException.class, lock::unlock));
        assertTrue(error.getMessage().contains("not locked by current thread"), error.getMessage());
        assertEquals(1, lock.getHoldCount());
    }

    @Test
    void unlock_by_another_client_is_refused_and_changes_nothing() {
        RedissonClient other = server.connect();
        lock.lock();
        assertThrows(IllegalMonitorStateException.class, other.getLock(name)::unlock);
        assertEquals(1, lock.getHoldCount());
        other.shutdown();
    }

    @Test
    void unlock_of_a_hold_whose_key_was_deleted_names_the_loss() throws Exception {
        lock.lock();
        server.call("DEL", name);
        assertLost();
        assertNull(assertThrows(IllegalMonitorStateException.class, lock::unlock).getCause());
    }

    @Test
    void unlock_of_a_hold_whose_lease_ran_out_names_the_loss() throws Exception {
        lock.lock(50, MILLISECONDS);
        Wait.until("the lease ran out", () -> !lock.isLocked());
        assertLost();
    }

    @Test
    void unlock_of_a_lock_that_somebody_else_has_now_leaves_it_to_him() throws Exception {
        RedissonClient other = server.connect();
        lock.lock();
        assertTrue(other.getLock(name).forceUnlock());
        other.getLock(name).lock();
        assertLost();
        assertTrue(other.getLock(name).isHeldByCurrentThread());
        other.shutdown();
    }

    @Test
    void forceUnlock_frees_the_lock_with_all_holds_and_wakes_a_waiter() throws Exception {
        lock.lock();
        lock.lock();
        Worker<Boolean> waiter = Worker.start(() -> {
            lock.lock();
            return lock.isHeldByCurrentThread();
        });
        waiter.awaitWaiting(server, name);
        assertTrue(Worker.elsewhere(() -> lock.forceUnlock()));
        assertTrue(waiter.get());
    }

    @Test
    void forceUnlock_of_a_free_lock_is_false() {
        assertFalse(lock.forceUnlock());
    }

    private void assertLost() {
        Throwable error = assertThrows(IllegalMonitorStateException.class, lock::unlock);
        assertEquals(words(Thread.currentThread().getId()), error.getMessage());
        Throwable cause = assertInstanceOf(LockLostException.class, error.getCause());
        assertTrue(cause.getMessage().contains("`" + name + "`"), cause.getMessage());
    }

    private String words(long threadId) {
        return "attempt to unlock lock, not locked by current thread by node id: " + client.getId() + " thread-id: " + threadId;
    }
}

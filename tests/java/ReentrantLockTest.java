import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The reentrant lock, called by threads that wait. */
class ReentrantLockTest extends LockTest {
    @Test
    void a_thread_may_acquire_again_and_must_release_as_often() throws Exception {
        lock.lock();
        lock.lock();
        assertTrue(lock.tryLock());
        assertEquals(3, lock.getHoldCount());
        lock.unlock();
        lock.unlock();
        assertTrue(lock.isHeldByCurrentThread());
        assertFalse(Worker.elsewhere(() -> lock.tryLock()));
        lock.unlock();
        assertFalse(lock.isLocked());
        assertEquals(0, lock.getHoldCount());
    }

    @Test
    void the_key_is_the_name_and_the_field_is_the_client_and_the_thread() throws Exception {
        lock.lock();
        assertEquals("1", server.call("HGET", name, client.getId() + ":" + Thread.currentThread().getId()));
        lock.unlock();
        assertEquals(0L, server.call("EXISTS", name));
    }

    @Test
    void two_objects_of_one_name_are_one_lock() {
        lock.lock();
        RLock same = client.getLock(name);
        assertTrue(same.isHeldByCurrentThread());
        same.unlock();
        assertFalse(lock.isLocked());
    }

    @Test
    void a_release_wakes_a_waiter_of_the_same_client() throws Exception {
        lock.lock();
        Worker<Integer> waiter = waiterOf(lock);
        lock.unlock();
        assertEquals(1, waiter.get());
    }

    @Test
    void a_release_wakes_a_waiter_of_another_client() throws Exception {
        RedissonClient other = server.connect();
        lock.lock();
        Worker<Integer> waiter = waiterOf(other.getLock(name));
        lock.unlock();
        assertEquals(1, waiter.get());
        other.shutdown();
    }

    @Test
    void a_wait_that_runs_out_is_false_and_leaves_no_listener() throws Exception {
        lock.lock();
        assertFalse(Worker.elsewhere(() -> lock.tryLock(100, MILLISECONDS)));
        Wait.until("no client listens", () -> server.listeners(name) == 0);
        assertTrue(lock.isHeldByCurrentThread());
    }

    @Test
    void a_wait_of_zero_or_less_tries_once() throws Exception {
        assertTrue(lock.tryLock(0, SECONDS));
        assertFalse(Worker.elsewhere(() -> lock.tryLock(0, SECONDS)));
        assertFalse(Worker.elsewhere(() -> lock.tryLock(-1, SECONDS)));
        assertFalse(Worker.elsewhere(() -> lock.tryLock(Long.MIN_VALUE, 5, TimeUnit.DAYS)));
    }

    @Test
    void a_wait_of_a_century_is_for_ever_in_every_unit() throws Exception {
        for (TimeUnit unit : TimeUnit.values()) {
            lock.lock();
            Worker<Boolean> waiter = Worker.start(() -> {
                boolean acquired = lock.tryLock(Long.MAX_VALUE, unit);
                lock.unlock();
                return acquired;
            });
            waiter.awaitWaiting(server, name);
            lock.unlock();
            assertTrue(waiter.get(), unit.toString());
        }
    }

    @Test
    void a_lease_ends_by_itself() throws Exception {
        lock.lock(300, MILLISECONDS);
        assertTrue(Worker.elsewhere(() -> lock.tryLock(10, SECONDS)));
        assertFalse(lock.isHeldByCurrentThread());
    }

    @Test
    void a_lease_of_zero_or_less_is_renewed_until_release() throws Exception {
        Config config = server.config().setLockWatchdogTimeout(900);
        RedissonClient quick = Redisson.create(config);
        RLock renewed = quick.getLock(name);
        renewed.lock(-1, SECONDS);
        Wait.until("the lease has shrunk", () -> renewed.remainTimeToLive() < 800);
        Wait.until("the lease was renewed", () -> renewed.remainTimeToLive() > 840);
        renewed.unlock();
        assertEquals(-2, renewed.remainTimeToLive());
        quick.shutdown();
    }

    @Test
    void a_lease_below_a_millisecond_is_a_short_lease_and_no_renewal() {
        lock.lock(1, MICROSECONDS);
        assertTrue(lock.remainTimeToLive() <= 1);
    }

    @Test
    void a_lease_of_more_than_a_century_is_refused() {
        for (TimeUnit unit : new TimeUnit[] {MILLISECONDS, SECONDS, TimeUnit.DAYS}) {
            Throwable error = assertThrows(IllegalArgumentException.class, () -> lock.lock(Long.MAX_VALUE, unit));
            assertTrue(error.getMessage().contains("`" + name + "`"), error.getMessage());
        }
        assertFalse(lock.isLocked());
    }

    @Test
    void each_hold_keeps_the_lease_it_asked_for() {
        lock.lock(20, SECONDS);
        assertTrue(lock.remainTimeToLive() > 15_000 && lock.remainTimeToLive() <= 20_000);
        lock.unlock();
        lock.lock();
        assertTrue(lock.remainTimeToLive() > 20_000);
        lock.unlock();
    }

    @Test
    void a_lock_has_no_conditions() {
        Throwable error = assertThrows(UnsupportedOperationException.class, lock::newCondition);
        assertTrue(error.getMessage().contains("`" + name + "`"), error.getMessage());
    }

    /** A thread that waits for the lock, releases it and says how many holds it had. */
    private Worker<Integer> waiterOf(RLock wanted) throws Exception {
        Worker<Integer> waiter = Worker.start(() -> {
            wanted.lock();
            int holds = wanted.getHoldCount();
            wanted.unlock();
            return holds;
        });
        waiter.awaitWaiting(server, name);
        return waiter;
    }
}

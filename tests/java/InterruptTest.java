import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Interrupts, which end some waits and never leave a hold behind. */
class InterruptTest extends LockTest {
    private static final int ROUNDS = 200;

    private final long holder = Thread.currentThread().getId();

    private interface Acquire {
        Object call() throws InterruptedException;
    }

    @Test
    void an_interrupt_ends_lockInterruptibly_with_nothing_held() throws Exception {
        assertEndedByInterrupt(() -> {
            lock.lockInterruptibly();
            return null;
        });
    }

    @Test
    void an_interrupt_ends_lockInterruptibly_with_a_lease_with_nothing_held() throws Exception {
        assertEndedByInterrupt(() -> {
            lock.lockInterruptibly(1, SECONDS);
            return null;
        });
    }

    @Test
    void an_interrupt_ends_a_waiting_tryLock_with_nothing_held() throws Exception {
        assertEndedByInterrupt(() -> lock.tryLock(1, 10, TimeUnit.DAYS));
    }

    @Test
    void an_interrupt_before_the_call_ends_it_and_the_lock_is_not_asked_for() throws Exception {
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, lock::lockInterruptibly);
        assertFalse(Thread.currentThread().isInterrupted());
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> lock.tryLock(1, SECONDS));
        assertFalse(lock.isLocked());
    }

    @Test
    void lock_waits_through_interrupts_and_keeps_the_flag() throws Exception {
        lock.lock();
        Worker<Boolean> waiter = Worker.start(() -> {
            lock.lock();
            boolean interrupted = Thread.interrupted();
            lock.unlock();
            return interrupted;
        });
        waiter.awaitWaiting(server, name);
        waiter.interrupt();
        waiter.interrupt();
        assertFalse(waiter.isDone());
        lock.unlock();
        assertTrue(waiter.get());
    }

    @Test
    void an_interrupt_that_meets_the_release_either_ends_the_wait_or_leaves_a_hold_that_is_returned() throws Exception {
        int ended = 0;
        // The time from a release to its interrupt: it goes up and down about the one at which they meet, on any machine.
        long later = 1_000;
        for (int round = 0; round < ROUNDS; round++) {
            lock.lock();
            Worker<Boolean> waiter = Worker.start(() -> {
                try {
                    lock.lockInterruptibly();
                } catch (InterruptedException e) {
                    return true;
                }
                lock.unlock();
                return false;
            });
            waiter.awaitWaiting(server, name);
            Worker<Void> releaser = Worker.start(() -> {
                lock.unlockAsync(holder).get();
                return null;
            });
            for (long end = System.nanoTime() + later; System.nanoTime() < end;) {
                Thread.onSpinWait();
            }
            waiter.interrupt();
            releaser.get();
            boolean hasEnded = waiter.get();
            ended += hasEnded ? 1 : 0;
            later = hasEnded ? later + later / 4 : later / 2 + 1;
            assertFalse(lock.isLocked(), "round " + round + ", " + ended + " were ended so far");
        }
        assertTrue(ended > 0 && ended < ROUNDS, ended + " of " + ROUNDS + " were ended: the interrupts do not meet the release");
    }

    private void assertEndedByInterrupt(Acquire acquire) throws Exception {
        lock.lock();
        Worker<Integer> waiter = Worker.start(() -> {
            assertThrows(InterruptedException.class, acquire::call);
            assertFalse(Thread.currentThread().isInterrupted());
            return lock.getHoldCount();
        });
        waiter.awaitWaiting(server, name);
        waiter.interrupt();
        assertEquals(0, waiter.get());
        Wait.until("no client listens", () -> server.listeners(name) == 0);
        lock.unlock();
        assertFalse(lock.isLocked());
    }
}

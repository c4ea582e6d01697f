import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.TokenLock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.redisson.api.LockOptions;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.options.CommonOptions;

/** The kinds of lock that are the reentrant one but for a detail. */
class KindsTest extends LockTest {
    @Test
    void every_kind_excludes_other_threads() throws Exception {
        CommonOptions options = CommonOptions.name(name);
        for (RLock each : new RLock[] {client.getSpinLock(name), client.getNonReentrantLock(name), client.getNonReentrantLock(options),
                client.getFairLock(name), client.getFairLock(options), client.getNonReentrantFairLock(name),
                client.getNonReentrantFairLock(options),
                client.getFencedLock(name), client.getFencedLock(options)}) {
            each.lock();
            assertEquals("1", server.call("HGET", name, client.getId() + ":" + Thread.currentThread().getId()));
            assertTrue(each.isHeldByCurrentThread());
            assertFalse(Worker.elsewhere(() -> each.tryLock(50, MILLISECONDS)));
            each.unlock();
            assertFalse(each.isLocked());
        }
    }

    @Test
    void a_spin_lock_waits_as_its_back_off_says_and_listens_to_nothing() throws Exception {
        int[] made = new int[1];
        RLock spin = client.getSpinLock(name, () -> {
            made[0]++;
            return () -> 3;
        });
        spin.lock();
        Worker<Boolean> waiter = Worker.start(() -> spin.tryLock(20, SECONDS));
        assertEquals(0, server.listeners(name));
        spin.unlock();
        assertTrue(waiter.get());
        assertEquals(2, made[0], "a policy for each acquire");
    }

    @Test
    void the_back_offs_are_those_of_redisson() {
        LockOptions.BackOffPolicy growing = LockOptions.defaults().create();
        for (long expected : new long[] {1, 2, 4, 8, 16, 32, 64, 128, 128}) {
            assertEquals(expected, growing.getNextSleepPeriod());
        }
        LockOptions.BackOffPolicy thrice = new LockOptions.ExponentialBackOff().initialDelay(5).multiplier(3).maxDelay(50).create();
        for (long expected : new long[] {5, 15, 45, 50}) {
            assertEquals(expected, thrice.getNextSleepPeriod());
        }
        assertEquals(64, new LockOptions.ConstantBackOff().create().getNextSleepPeriod());
        assertThrows(IllegalArgumentException.class, () -> new LockOptions.ConstantBackOff().delay(0));
        assertThrows(NullPointerException.class, () -> client.getSpinLock(name, null));
    }

    @Test
    void a_lock_that_is_not_reentrant_is_refused_to_its_thread_in_redissons_words() {
        for (RLock once : new RLock[] {client.getNonReentrantLock(name), client.getNonReentrantFairLock(name)}) {
            isRefusedTwice(once);
        }
    }

    private void isRefusedTwice(RLock once) {
        once.lock();
        String words = "thread " + Thread.currentThread().getId() + " has the lock `" + name
                + "`, which has no second hold; let it release the first one before";
        assertEquals(words, assertThrows(IllegalMonitorStateException.class, once::lock).getMessage());
        assertEquals(words, assertThrows(IllegalMonitorStateException.class, once::tryLock).getMessage());
        Throwable cause = assertThrows(ExecutionException.class, () -> once.lockAsync().get()).getCause();
        assertEquals(words, cause.getMessage());
        assertEquals(1, once.getHoldCount());
        once.unlock();
        assertTrue(once.tryLock());
        once.unlock();
    }

    @Test
    void a_fair_lock_goes_to_the_waiter_that_has_waited_longest() throws Exception {
        RLock fair = client.getFairLock(name);
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        List<Worker<Integer>> waiters = new ArrayList<>();
        fair.lock();
        for (int i = 0; i < 8; i++) {
            int number = i;
            waiters.add(Worker.start(() -> {
                fair.lock();
                order.add(number);
                fair.unlock();
                return number;
            }));
            Wait.until("one more in the queue", () -> server.call("LLEN", "redisson_lock_queue:{" + name + "}").equals(number + 1L));
        }
        fair.unlock();
        for (Worker<Integer> waiter : waiters) {
            waiter.get();
        }
        assertEquals(List.of(0, 1, 2, 3, 4, 5, 6, 7), order);
    }

    @Test
    void a_thread_takes_a_lock_twice_or_is_refused_as_its_kind_says() {
        for (LockKind kind : LockKind.ofOneName()) {
            RLock twice = kind.of(client, name + kind);
            twice.lock();
            if (kind.reenters) {
                assertTrue(twice.tryLock(), kind.name());
                twice.unlock();
            } else {
                assertThrows(IllegalMonitorStateException.class, twice::tryLock, kind.name());
            }
            assertTrue(twice.isHeldByCurrentThread(), kind.name());
            twice.unlock();
            assertFalse(twice.isLocked(), kind.name());
        }
    }

    @Test
    void a_token_lock_is_what_other_libraries_write() throws Exception {
        RLock token = TokenLock.of(client, name);
        token.lock();
        assertEquals(client.getId() + ":" + Thread.currentThread().getId(), server.call("GET", name));
        assertThrows(IllegalMonitorStateException.class, token::tryLock);
        token.unlock();
        assertEquals("OK", server.call("SET", name, "theirs", "NX", "PX", "9000"));
        assertFalse(token.tryLock());
        Worker<Boolean> waiter = Worker.start(() -> token.tryLock(20, SECONDS));
        server.call("DEL", name);
        assertTrue(waiter.get());
    }

    @Test
    void each_hold_of_a_fenced_lock_has_a_greater_token() throws Exception {
        RFencedLock fenced = client.getFencedLock(name);
        assertEquals(0, fenced.getToken());
        assertEquals(1, fenced.lockAndGetToken());
        assertEquals(2, fenced.tryLockAndGetToken());
        assertEquals(3, fenced.lockAndGetToken(20, SECONDS));
        assertNull(Worker.elsewhere(fenced::tryLockAndGetToken));
        assertNull(Worker.elsewhere(() -> fenced.tryLockAndGetToken(50, MILLISECONDS)));
        assertEquals(3, fenced.getToken());
        for (int i = 0; i < 3; i++) {
            fenced.unlock();
        }
        assertEquals(4, fenced.tryLockAndGetToken(1, 2, SECONDS));
        assertTrue(fenced.remainTimeToLive() <= 2000);
        fenced.unlock();
        assertEquals(5, fenced.lockAndGetTokenAsync().get());
        assertEquals(6, fenced.lockAndGetTokenAsync(5, SECONDS).get());
        assertEquals(7, fenced.tryLockAndGetTokenAsync().get());
        assertEquals(8, fenced.tryLockAndGetTokenAsync(1, SECONDS).get());
        assertEquals(9, fenced.tryLockAndGetTokenAsync(1, 5, SECONDS).get());
        assertEquals(9, fenced.getTokenAsync().get());
        assertNull(Worker.elsewhere(() -> fenced.tryLockAndGetTokenAsync().get()));
    }
}

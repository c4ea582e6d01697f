import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReadWriteLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.LockOptions;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.CommonOptions;

/** Each kind, ours against the same object of a plain Redisson. */
class KindsBesideTest extends BesideTest {
    @ParameterizedTest
    @ValueSource(strings = {"getLock", "getFairLock", "getSpinLock", "getFencedLock", "readers", "writers", "getNonReentrantLock",
        "getNonReentrantFairLock"})
    void a_lock_of_either_excludes_and_wakes_the_other(String kind) throws Exception {
        RLock ours = lock(client, kind);
        RLock theirs = lock(plain, kind);
        assertTrue(ours.getClass().getName().startsWith("io.redlatch."), ours.getClass().getName());
        for (RLock[] pair : new RLock[][] {{ours, theirs}, {theirs, ours}}) {
            RLock holder = kind.equals("readers") ? lock(pair[0] == ours ? client : plain, "writers") : pair[0];
            RLock waiter = pair[1];
            holder.lock();
            assertTrue(holder.isHeldByCurrentThread() && holder.isLocked() && !waiter.isHeldByCurrentThread());
            assertFalse(waiter.tryLock());
            Worker<Boolean> worker = Worker.start(() -> {
                waiter.lock();
                waiter.unlock();
                return true;
            });
            if (!kind.equals("getSpinLock")) { // no message tells it
                awaitWaiter(name);
            }
            assertFalse(worker.isDone());
            holder.unlock();
            assertTrue(woken(worker, () -> {
                boolean taken = holder.tryLock();
                if (taken) {
                    holder.unlock();
                }
                return taken;
            }));
            assertFalse(isThere(name));
        }
    }

    @Test
    void locks_that_are_asked_for_by_javas_own_interface_are_the_same() {
        ReadWriteLock two = client.getReadWriteLock(name);
        assertInstanceOf(RLock.class, two.readLock());
        assertInstanceOf(RLock.class, two.writeLock());
    }

    @Test
    void readers_of_both_share_a_lock() throws Exception {
        client.getReadWriteLock(name).readLock().lock();
        assertTrue(plain.getReadWriteLock(name).readLock().tryLock());
        assertFalse(client.getReadWriteLock(name).writeLock().tryLock());
        plain.getReadWriteLock(name).readLock().unlock();
        client.getReadWriteLock(name).readLock().unlock();
        assertTrue(client.getReadWriteLock(name).writeLock().tryLock());
        assertFalse(plain.getReadWriteLock(name).readLock().tryLock());
        client.getReadWriteLock(name).writeLock().unlock();
    }

    @Test
    void tokens_of_both_grow_together() {
        RFencedLock ours = client.getFencedLock(name);
        RFencedLock theirs = plain.getFencedLock(name);
        long last = 0;
        for (RFencedLock each : List.of(ours, theirs, ours, theirs)) {
            long token = each.lockAndGetToken();
            assertTrue(token > last, token + " after " + last);
            assertEquals(token, each.getToken());
            last = token;
            each.unlock();
        }
    }

    @Test
    void a_policy_of_a_spin_lock_is_asked_for_its_delays() throws Exception {
        plain.getLock(name).lock();
        int[] asked = {0};
        LockOptions.BackOff policy = () -> () -> {
            asked[0]++;
            return 1;
        };
        assertFalse(client.getSpinLock(name, policy).tryLock(50, MILLISECONDS));
        assertTrue(asked[0] > 0);
        plain.getLock(name).unlock();
    }

    @Test
    void options_of_one_lock_have_its_name() throws Exception {
        RLock ours = client.getLock(CommonOptions.name(name).timeout(java.time.Duration.ofSeconds(4)).retryAttempts(2));
        ours.lock();
        assertTrue(isThere(name) && plain.getLock(name).isLocked());
        ours.unlock();
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void permits_go_from_one_to_the_other(boolean oursFirst) throws Exception {
        RSemaphore first = (oursFirst ? client : plain).getSemaphore(name);
        RSemaphore second = (oursFirst ? plain : client).getSemaphore(name);
        assertTrue(first.trySetPermits(1) && !second.trySetPermits(7));
        first.acquire();
        assertFalse(second.tryAcquire());
        Worker<Boolean> worker = Worker.start(() -> second.tryAcquire(60, SECONDS));
        awaitWaiter(name);
        first.release();
        assertTrue(woken(worker, () -> {
            boolean taken = first.tryAcquire();
            if (taken) {
                first.release();
            }
            return taken;
        }));
        assertEquals(0, first.availablePermits());
        second.release();
        assertTrue(first.delete());
        assertFalse(isThere(name));
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void permits_with_ids_go_from_one_to_the_other(boolean oursFirst) throws Exception {
        RPermitExpirableSemaphore first = (oursFirst ? client : plain).getPermitExpirableSemaphore(name);
        RPermitExpirableSemaphore second = (oursFirst ? plain : client).getPermitExpirableSemaphore(name);
        assertTrue(first.trySetPermits(2));
        List<String> permits = first.acquire(2);
        assertNull(second.tryAcquire());
        Worker<String> worker = Worker.start(() -> second.tryAcquire(60, 60, SECONDS));
        awaitWaiter(name);
        assertTrue(second.tryRelease(permits.get(0)), "an id of one is one of the other");
        String permit = woken(worker, () -> {
            String other = first.tryAcquire();
            if (other != null) {
                first.release(other);
            }
            return other;
        });
        assertNotNull(permit);
        assertTrue(first.updateLeaseTime(permit, 90, SECONDS));
        first.release(permit);
        first.release(permits.get(1));
        assertEquals(2, second.availablePermits());
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void a_latch_opens_for_both(boolean oursFirst) throws Exception {
        RCountDownLatch first = (oursFirst ? client : plain).getCountDownLatch(name);
        RCountDownLatch second = (oursFirst ? plain : client).getCountDownLatch(name);
        assertTrue(first.trySetCount(2));
        Worker<Boolean> worker = Worker.start(() -> second.await(60, SECONDS));
        awaitWaiter(name);
        second.countDown();
        assertEquals(1, first.getCount());
        first.countDown();
        assertTrue(woken(worker, () -> {
            if (first.trySetCount(1)) {
                first.countDown();
            }
            return first;
        }));
    }

    @Test
    void values_of_a_group_are_locked_for_both() throws Exception {
        Method factory = Arrays.stream(RedissonClient.class.getMethods())
                .filter(each -> each.getName().equals("getMultiLock") && each.getParameterCount() == 2).findFirst().orElse(null);
        assumeTrue(factory != null, "this version has no such lock");
        RLock ours = (RLock) factory.invoke(client, name, List.of("a", "b"));
        RLock theirs = (RLock) factory.invoke(plain, name, List.of("b", "c"));
        ours.lock();
        assertInstanceOf(RLock.class, ours);
        assertTrue(ours.isHeldByCurrentThread());
        ours.unlock();
        assertTrue(theirs.tryLock());
        theirs.unlock();
    }

    private RLock lock(RedissonClient of, String kind) throws Exception {
        if (kind.endsWith("ers")) {
            return kind.equals("readers") ? of.getReadWriteLock(name).readLock() : of.getReadWriteLock(name).writeLock();
        }
        Method factory = Arrays.stream(RedissonClient.class.getMethods())
                .filter(each -> each.getName().equals(kind) && Arrays.equals(each.getParameterTypes(), new Class<?>[] {String.class}))
                .findFirst().orElse(null);
        assumeTrue(factory != null, "this version has no " + kind);
        return (RLock) factory.invoke(of, name);
    }
}

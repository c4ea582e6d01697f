import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Hold;
import io.redlatch.Holds;
import io.redlatch.LockLostException;
import io.redlatch.LostReason;
import io.redlatch.Redlatch;
import io.redlatch.TokenLock;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.redisson.RedissonFairLock;
import org.redisson.RedissonShutdownException;
import org.redisson.api.DeletedObjectListener;
import org.redisson.api.LockOptions;
import org.redisson.api.RFencedLock;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.CommonOptions;
import org.redisson.api.options.KeysOptions;

/** The locks of ZooKeeper by the API of Redisson. */
class ZookeeperLocksTest extends ZookeeperTest {
    private static final Map<Class<?>, Object> VALUES = Map.of(String.class, "n", CommonOptions.class, CommonOptions.name("n"),
            KeysOptions.class, KeysOptions.defaults(), LockOptions.BackOff.class, LockOptions.defaults(), Collection.class, List.of("a"));

    /**
     * The option of clients whose sessions a test ends. A client that enters its session while the rig ends it may see its node go first, or hear of
     * the end only by its next sign of life, of which it gives four in the session's time.
     */
    private static final String QUICK = "watchdog=4";
    private static final Set<LostReason> ENDED = Set.of(LostReason.SESSION_ENDED, LostReason.DELETED);

    /** The locks of that name that exclude all others. */
    private static RLock[] all(RedissonClient of, String name) {
        CommonOptions options = CommonOptions.name(name);
        return new RLock[] {of.getLock(name), of.getLock(options), of.getNonReentrantLock(name), of.getNonReentrantLock(options),
                of.getFencedLock(name), of.getFencedLock(options), of.getFairLock(name), of.getFairLock(options),
                of.getNonReentrantFairLock(name), of.getNonReentrantFairLock(options), of.getReadWriteLock(name).writeLock(),
                of.getReadWriteLock(options).writeLock()};
    }

    @Test
    void a_lock_is_a_node_in_a_queue_and_excludes_other_threads_and_clients() throws Exception {
        RLock[] ofAnother = all(another(""), name);
        RLock[] locks = all(client, name);
        for (int i = 0; i < locks.length; i++) {
            RLock lock = locks[i];
            RLock others = ofAnother[i];
            lock.lock();
            assertHeld();
            assertTrue(lock.isLocked() && lock.isHeldByCurrentThread());
            assertFalse(Worker.elsewhere(() -> lock.tryLock()));
            assertFalse(Worker.elsewhere(() -> lock.tryLock(500, MILLISECONDS)));
            assertFalse(others.tryLock() || others.isHeldByCurrentThread());
            assertTrue(others.isLocked());
            lock.unlock();
            assertFalse(lock.isLocked() || others.isLocked());
            Wait.until("the queue is empty", () -> queue().isEmpty());
        }
    }

    @Test
    void a_thread_takes_a_reentrant_lock_again_and_is_refused_the_others() throws Exception {
        for (RLock twice : new RLock[] {client.getLock(name), client.getFencedLock(name), client.getFairLock(name),
                client.getReadWriteLock(name).writeLock(), client.getReadWriteLock(name).readLock()}) {
            twice.lock();
            assertTrue(twice.tryLock());
            assertEquals(2, twice.getHoldCount());
            twice.unlock();
            assertHeld(); // the outer hold is left
            twice.unlock();
            assertEquals(0, twice.getHoldCount());
            assertUnlockIsRefused(twice);
        }
        for (RLock once : new RLock[] {client.getNonReentrantLock(name), client.getNonReentrantFairLock(name)}) {
            once.lock();
            assertThrows(IllegalMonitorStateException.class, once::tryLock);
            once.unlock();
        }
    }

    /** A release of a free fair lock returns, as in Redisson. */
    private static void assertUnlockIsRefused(RLock lock) {
        if (lock instanceof RedissonFairLock) {
            lock.unlock();
        } else {
            assertThrows(IllegalMonitorStateException.class, lock::unlock);
        }
    }

    @Test
    void futures_lock_for_the_thread_ids_that_they_are_given() throws Exception {
        for (RLock lock : new RLock[] {client.getLock(name), client.getFairLock(name), client.getReadWriteLock(name).writeLock()}) {
            lock.lockAsync(7).get(10, SECONDS);
            assertFalse(lock.tryLockAsync(8).get(10, SECONDS));
            assertTrue(lock.isHeldByThreadAsync(7).get(10, SECONDS));
            assertTrue(lock.isLockedAsync().get(10, SECONDS));
            RFuture<Boolean> waits = lock.tryLockAsync(20, -1, SECONDS, 8);
            ExecutionException refused = assertThrows(ExecutionException.class, () -> lock.unlockAsync(9).get(10, SECONDS));
            assertInstanceOf(IllegalMonitorStateException.class, refused.getCause());
            lock.unlockAsync(7).get(10, SECONDS);
            assertTrue(waits.get(10, SECONDS));
            RFuture<Void> cancelled = lock.lockAsync(9);
            assertTrue(cancelled.cancel(true));
            lock.unlockAsync(8).get(10, SECONDS);
            Wait.until("a cancelled acquire leaves nothing", () -> queue().isEmpty());
        }
    }

    @Test
    void a_waiter_of_another_client_stands_in_the_servers_queue_and_gets_the_lock_from_the_release() throws Exception {
        RLock[] ofAnother = all(another(""), name);
        RLock[] locks = all(client, name);
        for (int i = 0; i < locks.length; i++) {
            RLock others = ofAnother[i];
            locks[i].lock();
            Worker<Boolean> waiter = Worker.start(() -> {
                boolean has = others.tryLock(20, SECONDS);
                others.unlock();
                return has;
            });
            awaitQueue(2);
            locks[i].unlock();
            assertTrue(waiter.get());
        }
    }

    @Test
    void threads_of_two_clients_take_turns_and_no_two_are_inside_at_once() throws Exception {
        RedissonClient other = another("");
        int each = 10;
        for (int kind = 0; kind < all(client, name).length; kind += 2) {
            AtomicBoolean inside = new AtomicBoolean();
            int[] count = new int[1];
            List<Worker<Integer>> workers = new ArrayList<>();
            for (RedissonClient of : new RedissonClient[] {client, other}) {
                RLock lock = all(of, name)[kind];
                for (int thread = 0; thread < 3; thread++) {
                    workers.add(Worker.start(() -> {
                        for (int i = 0; i < each; i++) {
                            lock.lock();
                            assertTrue(inside.compareAndSet(false, true), "another thread is inside");
                            count[0]++; // no two threads do this at once
                            inside.set(false);
                            lock.unlock();
                        }
                        return each;
                    }));
                }
            }
            for (Worker<Integer> worker : workers) {
                worker.get();
            }
            assertEquals(6 * each, count[0]);
        }
    }

    @Test
    void threads_of_two_clients_have_a_fair_lock_in_the_order_in_which_they_came() throws Exception {
        RLock lock = client.getFairLock(name);
        RLock others = another("").getFairLock(name);
        lock.lock();
        ConcurrentLinkedQueue<Integer> order = new ConcurrentLinkedQueue<>();
        List<Worker<Boolean>> workers = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            int number = i;
            RLock fair = i % 2 == 0 ? others : lock;
            workers.add(Worker.start(() -> {
                fair.lock();
                order.add(number);
                fair.unlock();
                return true;
            }));
            awaitQueue(i + 2);
        }
        lock.unlock();
        for (Worker<Boolean> worker : workers) {
            worker.get();
        }
        assertEquals(List.of(0, 1, 2, 3, 4, 5), List.copyOf(order));
    }

    @Test
    void readers_share_a_lock_and_a_writer_waits_for_them_and_may_read_itself() throws Exception {
        RReadWriteLock both = client.getReadWriteLock(name);
        RReadWriteLock others = another("").getReadWriteLock(name);
        both.readLock().lock();
        assertTrue(Worker.elsewhere(() -> {
            boolean has = both.readLock().tryLock();
            both.readLock().unlock();
            return has;
        }));
        others.readLock().lock();
        Worker<Boolean> writer = Worker.start(() -> {
            others.writeLock().lock();
            boolean reads = others.readLock().tryLock();
            others.writeLock().unlock();
            boolean still = others.readLock().isHeldByCurrentThread();
            others.readLock().unlock();
            return reads && still;
        });
        awaitQueue(3);
        others.readLock().unlock();
        assertFalse(writer.isDone());
        assertFalse(both.writeLock().isHeldByCurrentThread());
        both.readLock().unlock();
        assertTrue(writer.get());
    }

    @Test
    void a_wait_that_runs_out_and_one_that_is_interrupted_leave_nothing() throws Exception {
        RLock[] ofAnother = all(another(""), name);
        RLock[] locks = all(client, name);
        for (int i = 0; i < locks.length; i += 2) {
            RLock others = ofAnother[i];
            locks[i].lock();
            long begun = System.nanoTime();
            assertFalse(others.tryLock(500, MILLISECONDS));
            assertTrue(System.nanoTime() - begun >= MILLISECONDS.toNanos(500));
            Worker<Throwable> waiter = Worker.start(() -> assertThrows(InterruptedException.class, others::lockInterruptibly));
            awaitQueue(2);
            waiter.interrupt();
            waiter.get();
            awaitQueue(1);
            locks[i].unlock();
        }
    }

    @Test
    void each_hold_of_a_fenced_lock_has_a_greater_token_for_every_client() throws Exception {
        RFencedLock fenced = client.getFencedLock(name);
        RFencedLock others = another("").getFencedLock(name);
        long last = fenced.lockAndGetToken();
        assertEquals(last, Holds.of(fenced).token().getAsLong());
        assertEquals(last, fenced.getToken());
        assertNull(others.tryLockAndGetToken());
        fenced.unlock();
        for (RFencedLock each : new RFencedLock[] {others, fenced, others}) {
            long token = each.lockAndGetTokenAsync().get(10, SECONDS);
            assertTrue(token > last, token + " after " + last);
            last = token;
            each.unlock();
        }
    }

    @Test
    void a_lease_ends_a_hold_which_its_unlock_tells() throws Exception {
        RLock lock = client.getLock(name);
        lock.lock(300, MILLISECONDS);
        assertTrue(lock.remainTimeToLive() <= 300);
        Hold hold = Holds.of(lock);
        RLock others = another("").getLock(name);
        assertTrue(others.tryLock(20, SECONDS));
        assertEquals(LostReason.EXPIRED, hold.lost().get(5, SECONDS).reason());
        IllegalMonitorStateException late = assertThrows(IllegalMonitorStateException.class, lock::unlock);
        assertEquals(LostReason.EXPIRED, assertInstanceOf(LockLostException.class, late.getCause()).reason());
        assertTrue(others.isHeldByCurrentThread());
        others.unlock();
    }

    @Test
    void a_holder_is_told_at_once_when_its_session_ends_and_locks_again() throws Exception {
        for (RLock lock : all(another(QUICK), name)) {
            lock.lock();
            CompletableFuture<LockLostException> told = new CompletableFuture<>();
            Holds.of(lock).onLost(told::complete);
            expire(holder());
            assertTrue(ENDED.contains(told.get(5, SECONDS).reason()));
            assertUnlockIsRefused(lock);
            assertTrue(lock.tryLock(20, SECONDS));
            lock.unlock();
        }
    }

    @Test
    void the_end_of_one_node_is_the_loss_of_its_lock_alone() throws Exception {
        RLock lock = client.getLock(name);
        RLock stays = client.getLock(newName());
        lock.lock();
        stays.lock();
        Hold hold = Holds.of(lock);
        curator.delete().forPath("/" + name + "/" + queue().get(0));
        assertEquals(LostReason.DELETED, hold.lost().get(5, SECONDS).reason());
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
        Holds.of(stays).ensure();
        stays.unlock();
    }

    @Test
    void a_request_of_curator_to_let_go_is_told_and_the_hold_stays() throws Exception {
        RLock lock = client.getLock(name);
        RLock other = client.getLock(newName());
        lock.lock();
        other.lock();
        Hold hold = Holds.of(lock);
        assertFalse(hold.isWanted());
        Revoker.attemptRevoke(curator, "/" + name + "/" + queue().get(0));
        Wait.until("the request is told", hold::isWanted);
        assertFalse(Holds.of(other).isWanted());
        hold.ensure();
        lock.unlock();
        assertFalse(hold.isWanted());
        other.unlock();
    }

    @Test
    void a_forced_unlock_frees_a_lock_of_another_client_and_tells_its_holder() throws Exception {
        RLock lock = client.getLock(name);
        lock.lock();
        Hold hold = Holds.of(lock);
        RLock others = another("").getLock(name);
        assertTrue(others.forceUnlock());
        assertEquals(LostReason.DELETED, hold.lost().get(5, SECONDS).reason());
        assertFalse(others.forceUnlock(), "there is nothing any more");
        assertTrue(others.tryLock());
        others.unlock();
    }

    @Test
    void holds_outlast_a_server_that_is_back_before_their_session_ends() throws Exception {
        try (TestZookeeper own = TestZookeeper.start()) {
            RedissonClient made = Redlatch.connect(own.url());
            RLock lock = made.getLock(name);
            lock.lock();
            Hold hold = Holds.of(lock);
            own.stop();
            own.restart();
            assertFalse(made.getLock(newName()).isLocked(), "the client has found the server again");
            hold.ensure();
            lock.unlock();
            made.shutdown();
        }
    }

    @Test
    void the_lock_of_a_killed_process_is_free_when_its_session_ends() throws Exception {
        Process holder = new ProcessBuilder(new Child().command(HoldOne.class, server.url("watchdog=2"), name)).redirectErrorStream(true).start();
        try {
            awaitQueue(1);
            Worker<Long> waiter = Worker.start(() -> {
                assertTrue(client.getLock(name).tryLock(20, SECONDS));
                client.getLock(name).unlock();
                return System.nanoTime();
            });
            awaitQueue(2);
            long killed = System.nanoTime();
            holder.destroyForcibly();
            long after = waiter.get() - killed;
            assertTrue(after < SECONDS.toNanos(3), after + " ns");
        } finally {
            holder.destroyForcibly().waitFor();
        }
    }

    @Test
    void shutdown_frees_every_lock_ends_every_wait_and_leaves_no_session() throws Exception {
        RedissonClient ending = another("");
        RLock held = ending.getLock(newName());
        held.lock();
        long session = server.sessions().stream().filter(each -> holds(each, held)).findFirst().orElseThrow();
        client.getLock(name).lock();
        Worker<Throwable> waiter = Worker.start(() -> assertThrows(RedissonShutdownException.class, ending.getLock(name)::lock));
        awaitQueue(2);
        Hold hold = Holds.of(held);
        ending.shutdown();
        waiter.get();
        assertEquals(LostReason.CLOSED, hold.reason().orElseThrow());
        Wait.until("its session has ended", () -> !server.sessions().contains(session));
        assertTrue(client.getLock(held.getName()).tryLock());
        client.getLock(held.getName()).unlock();
        client.getLock(name).unlock();
        assertThrows(RedissonShutdownException.class, held::lock);
        assertThrows(RedissonShutdownException.class, () -> ending.getFairLock(name).lock());
    }

    private boolean holds(long session, RLock lock) {
        try {
            return TestZookeeper.owner(curator, "/" + lock.getName() + "/" + queue(lock.getName()).get(0)) == session;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Redisson's interface has no permit that ends with its owner's session. */
    @Test
    void the_number_of_permits_is_set_and_asked_for_and_an_acquire_says_why_there_is_none() throws Exception {
        RPermitExpirableSemaphore permits = client.getPermitExpirableSemaphore(name);
        assertTrue(permits.trySetPermits(2));
        assertFalse(another("").getPermitExpirableSemaphore(name).trySetPermits(5));
        permits.addPermits(1);
        Lease theirs = new InterProcessSemaphoreV2(curator, "/" + name, 3).acquire();
        assertEquals(List.of(2, 1, 3), List.of(permits.availablePermits(), permits.acquiredPermits(), permits.getPermits()));
        permits.setPermits(1);
        assertEquals(0, permits.availablePermits());
        theirs.close();
        for (Worker<Throwable> acquire : List.of(refused(permits::acquire), refused(permits::tryAcquire), refused(() -> permits.tryAcquire(1, SECONDS)),
                refused(() -> permits.acquire(5, SECONDS)))) {
            assertTrue(acquire.get().getMessage().contains("ZooKeeper"), acquire.get().getMessage());
        }
        assertEquals(List.of(), queue(name + "/leases"));
    }

    private static Worker<Throwable> refused(Executable call) {
        return Worker.start(() -> assertThrows(UnsupportedOperationException.class, call));
    }

    /** Every method of the client that gives an object, with inputs that suit it. */
    @Test
    void the_client_has_the_factories_that_its_server_has_and_the_others_say_so() throws Exception {
        Set<String> served = new TreeSet<>();
        Set<String> refused = new TreeSet<>();
        for (Method factory : RedissonClient.class.getMethods()) {
            Class<?>[] inputs = factory.getParameterTypes();
            if (!factory.getName().matches("get.*(Lock|Semaphore|Latch|Keys)")) {
                continue;
            }
            Object[] values = new Object[inputs.length];
            for (int i = 0; i < inputs.length; i++) {
                values[i] = inputs[i] == RLock[].class ? new RLock[] {client.getLock(name)} : VALUES.get(inputs[i]);
            }
            try {
                assertNotNull(factory.invoke(client, values));
                served.add(factory.getName() + inputs.length);
            } catch (InvocationTargetException e) {
                String said = assertInstanceOf(UnsupportedOperationException.class, e.getCause(), factory.toString()).getMessage();
                assertTrue(said.contains("plain, non_reentrant, fenced, fair") || said.contains("are no keys"), factory + ": " + said);
                refused.add(factory.getName() + inputs.length);
            }
        }
        assertEquals(Set.of("getLock1", "getNonReentrantLock1", "getFencedLock1", "getFairLock1", "getNonReentrantFairLock1", "getReadWriteLock1",
                "getPermitExpirableSemaphore1", "getMultiLock1", "getRedLock1"), served);
        assertEquals(Set.of("getSpinLock1", "getSpinLock2", "getMultiLock2", "getSemaphore1", "getCountDownLatch1", "getKeys0", "getKeys1"), refused);
        assertThrows(UnsupportedOperationException.class, () -> TokenLock.of(client, name));
        assertThrows(UnsupportedOperationException.class, () -> client.getLock(name).addListener((DeletedObjectListener) deleted -> {}));
        assertEquals("ZooKeeper does not have the kind spin; it has plain, non_reentrant, fenced, fair, non_reentrant_fair, read, write, permit, "
                + "permit_semaphore, and multi and red locks of these; Redis has all kinds",
                assertThrows(UnsupportedOperationException.class, () -> client.getSpinLock(name)).getMessage());
    }

    @Test
    void a_multi_lock_of_redis_and_zookeeper_excludes_the_clients_of_both() throws Exception {
        TestServer redis = TestServer.shared();
        RedissonClient cache = redis.connect();
        RedissonClient other = another("");
        for (RedissonClient maker : new RedissonClient[] {client, cache}) {
            RLock both = maker.getMultiLock(client.getLock(name), cache.getLock(name));
            both.lock();
            assertTrue(both.isHeldByCurrentThread());
            assertHeld();
            assertEquals(1L, redis.call("EXISTS", name));
            assertFalse(other.getLock(name).tryLock());
            assertFalse(Worker.elsewhere(() -> cache.getLock(name).tryLock()));
            Worker<Boolean> waiter = Worker.start(() -> {
                RLock othersBoth = cache.getMultiLock(cache.getLock(name), other.getLock(name));
                boolean has = othersBoth.tryLock(20, SECONDS);
                othersBoth.unlock();
                return has;
            });
            both.unlock();
            assertTrue(waiter.get());
        }
        assertEquals(0L, redis.call("EXISTS", name));
        cache.shutdown();
    }

    @Test
    void a_multi_lock_is_lost_with_either_of_its_locks() throws Exception {
        TestServer redis = TestServer.shared();
        RedissonClient cache = redis.connect();
        RedissonClient quick = another(QUICK);
        RLock both = quick.getMultiLock(quick.getLock(name), cache.getLock(name));
        both.lock();
        Hold hold = Holds.of(both);
        expire(holder());
        assertTrue(ENDED.contains(hold.lost().get(5, SECONDS).reason()));
        assertThrows(IllegalMonitorStateException.class, both::unlock);
        Wait.until("the lock of Redis has gone back", () -> redis.call("EXISTS", name).equals(0L));
        assertTrue(both.tryLock(20, SECONDS));
        Hold second = Holds.of(both);
        assertNotEquals(hold, second);
        redis.call("DEL", name);
        assertEquals(LostReason.DELETED, second.lost().get(5, SECONDS).reason());
        assertThrows(IllegalMonitorStateException.class, both::unlock);
        Wait.until("the lock of ZooKeeper has gone back", () -> queue().isEmpty());
        cache.shutdown();
    }
}

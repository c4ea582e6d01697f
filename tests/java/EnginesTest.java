import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Hold;
import io.redlatch.Holds;
import io.redlatch.Leader;
import io.redlatch.LockLostException;
import io.redlatch.LostReason;
import io.redlatch.Observer;
import io.redlatch.Redlatch;
import io.redlatch.Term;
import io.redlatch.TokenLock;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.redisson.RedissonShutdownException;
import org.redisson.api.DeletedObjectListener;
import org.redisson.api.LockOptions;
import org.redisson.api.RFencedLock;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.CommonOptions;
import org.redisson.api.options.KeysOptions;

/** The locks of MariaDB by the API of Redisson. */
class EnginesTest extends MariadbTest {
    private static final Map<Class<?>, Object> VALUES = Map.of(String.class, "n", CommonOptions.class, CommonOptions.name("n"),
            KeysOptions.class, KeysOptions.defaults(), LockOptions.BackOff.class, LockOptions.defaults(), Collection.class, List.of("a"));

    @Test
    void a_lock_is_the_servers_own_and_excludes_other_threads_and_clients() throws Exception {
        for (RLock lock : new RLock[] {client.getLock(name), client.getLock(CommonOptions.name(name)), client.getNonReentrantLock(name),
                client.getNonReentrantLock(CommonOptions.name(name)), client.getFencedLock(name), client.getFencedLock(CommonOptions.name(name))}) {
            lock.lock();
            assertNotNull(sql.holder(name), lock + " is not held at the server");
            assertTrue(lock.isLocked() && lock.isHeldByCurrentThread());
            assertFalse(Worker.elsewhere(() -> lock.tryLock()));
            assertFalse(Worker.elsewhere(() -> lock.tryLock(50, MILLISECONDS)));
            RLock others = another("").getLock(name);
            assertFalse(others.tryLock() || others.isHeldByCurrentThread());
            assertTrue(others.isLocked());
            lock.unlock();
            assertFalse(lock.isLocked() || others.isLocked());
            assertNull(sql.holder(name));
        }
    }

    @Test
    void a_thread_takes_the_reentrant_lock_again_and_is_refused_the_other() throws Exception {
        for (RLock twice : new RLock[] {client.getLock(name), client.getFencedLock(name)}) {
            twice.lock();
            assertTrue(twice.tryLock());
            assertEquals(2, twice.getHoldCount());
            twice.unlock();
            assertNotNull(sql.holder(name), "the outer hold is left");
            twice.unlock();
            assertEquals(0, twice.getHoldCount());
            assertThrows(IllegalMonitorStateException.class, twice::unlock);
        }
        RLock once = client.getNonReentrantLock(name);
        once.lock();
        assertThrows(IllegalMonitorStateException.class, once::tryLock);
        once.unlock();
    }

    @Test
    void futures_lock_for_the_thread_ids_that_they_are_given() throws Exception {
        RLock lock = client.getLock(name);
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
        Wait.until("a cancelled acquire leaves nothing held", () -> sql.holder(name) == null);
    }

    @Test
    void a_waiter_of_another_client_stands_in_the_servers_queue_and_gets_the_lock_from_the_release() throws Exception {
        RLock lock = client.getLock(name);
        RLock others = another("").getLock(name);
        lock.lock();
        Worker<Boolean> waiter = Worker.start(() -> {
            boolean has = others.tryLock(20, SECONDS);
            others.unlock();
            return has;
        });
        Wait.until("it waits in the server's queue", () -> sql.waiting() == 1);
        lock.unlock();
        assertTrue(waiter.get());
    }

    @Test
    void threads_of_two_clients_take_turns_and_no_two_are_inside_at_once() throws Exception {
        int each = 200;
        AtomicBoolean inside = new AtomicBoolean();
        int[] count = new int[1];
        List<Worker<Integer>> workers = new ArrayList<>();
        for (RedissonClient of : new RedissonClient[] {client, another("")}) {
            for (int thread = 0; thread < 4; thread++) {
                workers.add(Worker.start(() -> {
                    for (int i = 0; i < each; i++) {
                        RLock lock = of.getLock(name);
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
        assertEquals(8 * each, count[0]);
    }

    @Test
    void a_wait_that_runs_out_and_one_that_is_interrupted_leave_nothing() throws Exception {
        RLock lock = client.getLock(name);
        lock.lock();
        RLock others = another("").getLock(name);
        long begun = System.nanoTime();
        assertFalse(others.tryLock(200, MILLISECONDS));
        assertTrue(System.nanoTime() - begun >= MILLISECONDS.toNanos(200));
        Worker<Throwable> waiter = Worker.start(() -> assertThrows(InterruptedException.class, others::lockInterruptibly));
        Wait.until("it waits", () -> sql.waiting() == 1);
        waiter.interrupt();
        waiter.get();
        Wait.until("no session waits", () -> sql.waiting() == 0);
        lock.unlock();
        assertNull(sql.holder(name));
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
            assertEquals(token, Long.parseLong(sql.ask("SELECT token FROM redlatch_fence WHERE name = ?", name)));
            last = token;
            each.unlock();
        }
    }

    @Test
    void a_fenced_lock_without_its_table_says_how_to_make_it_and_holds_nothing() throws Exception {
        RedissonClient bare = Redlatch.connect("mariadb://app:secret@127.0.0.1:" + server.port() + "/bare");
        String said = assertThrows(UnsupportedOperationException.class, bare.getFencedLock(name)::lock).getMessage();
        assertTrue(said.contains("CREATE TABLE redlatch_fence"), said);
        Wait.until("nothing is held", () -> sql.holder(name) == null);
        bare.shutdown();
    }

    @Test
    void a_leader_has_the_lock_of_its_name_and_a_row_that_tells_of_its_term() throws Exception {
        Leader ours = Leader.of(client, name, "api-1:80");
        Leader others = Leader.of(another(""), name, "api-2:80");
        Observer observer = others.observe();
        assertEquals(Optional.empty(), observer.next());
        long first;
        try (Term term = ours.lead()) {
            first = term.token();
            assertEquals("api-1:80", others.current().get().value());
            assertEquals(first, observer.next().get().token().getAsLong());
            assertFalse(client.getLock(name).tryLock());
            assertEquals(Optional.empty(), others.tryLead(Duration.ofMillis(50)));
        }
        assertEquals(Optional.empty(), observer.next());
        Term term = others.lead();
        assertTrue(term.token() > first);
        assertEquals("api-2:80", ours.current().get().value());
        CompletableFuture<LostReason> told = new CompletableFuture<>();
        term.onLost(loss -> told.complete(loss.reason()));
        sql.ask("KILL " + sql.holder(name));
        assertEquals(LostReason.SESSION_ENDED, told.get(20, SECONDS));
        assertThrows(LockLostException.class, term::close);
        Wait.until("no candidate leads", () -> ours.current().isEmpty());
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
        assertTrue(lock.tryLock(1, 20, SECONDS));
        lock.unlock();
    }

    @Test
    void a_holder_is_told_at_once_when_an_administrator_ends_its_session_and_locks_again() throws Exception {
        RLock lock = client.getLock(name);
        lock.lock();
        CompletableFuture<LockLostException> told = new CompletableFuture<>();
        Holds.of(lock).onLost(told::complete);
        sql.ask("KILL " + sql.holder(name));
        assertEquals(LostReason.SESSION_ENDED, told.get(5, SECONDS).reason()); // the watchdog would find out after 10 s
        IllegalMonitorStateException late = assertThrows(IllegalMonitorStateException.class, lock::unlock);
        assertInstanceOf(LockLostException.class, late.getCause());
        assertTrue(lock.tryLock(20, SECONDS));
        lock.unlock();
    }

    @Test
    void a_forced_unlock_frees_a_lock_of_another_client_and_tells_its_holder() throws Exception {
        RLock lock = client.getLock(name);
        lock.lock();
        Hold hold = Holds.of(lock);
        RLock others = another("").getLock(name);
        assertTrue(others.forceUnlock());
        assertEquals(LostReason.SESSION_ENDED, hold.lost().get(5, SECONDS).reason());
        assertFalse(others.forceUnlock(), "there is nothing any more");
        assertTrue(others.tryLock());
        others.unlock();
    }

    @Test
    void a_server_that_dies_ends_every_hold_and_serves_the_same_client_when_it_is_back() throws Exception {
        try (TestMariadb own = TestMariadb.start()) {
            RedissonClient made = Redlatch.connect(own.url());
            RLock lock = made.getLock(name);
            lock.lock();
            Hold hold = Holds.of(lock);
            own.stop();
            assertEquals(LostReason.SESSION_ENDED, hold.lost().get(5, SECONDS).reason());
            own.restart();
            assertTrue(lock.tryLock(20, SECONDS));
            lock.unlock();
            made.shutdown();
        }
    }

    @Test
    void the_lock_of_a_killed_process_goes_to_the_next_waiter_before_any_lease_could_end() throws Exception {
        Process holder = new ProcessBuilder(new Child().command(HoldOne.class, server.url(), name)).redirectErrorStream(true).start();
        try {
            Wait.until("the process has it", () -> sql.holder(name) != null);
            Worker<Boolean> waiter = Worker.start(() -> {
                boolean has = client.getLock(name).tryLock(10, SECONDS); // the watchdog's time is 30 s
                client.getLock(name).unlock();
                return has;
            });
            Wait.until("a thread waits", () -> sql.waiting() == 1);
            holder.destroyForcibly();
            assertTrue(waiter.get());
        } finally {
            holder.destroyForcibly().waitFor();
        }
    }

    @Test
    void shutdown_frees_every_lock_ends_every_wait_and_leaves_no_session() throws Exception {
        RedissonClient ending = another("");
        RLock held = ending.getLock(name);
        held.lock();
        String taken = newName();
        client.getLock(taken).lock();
        Worker<Throwable> waiter = Worker.start(() -> assertThrows(RedissonShutdownException.class, ending.getLock(taken)::lock));
        Wait.until("it waits", () -> sql.waiting() == 1);
        Hold hold = Holds.of(held);
        ending.shutdown();
        waiter.get();
        assertEquals(LostReason.CLOSED, hold.reason().orElseThrow());
        Wait.until("only the other client has a session", () -> sql.sessionsOfClients() == 1);
        assertTrue(client.getLock(name).tryLock());
        client.getLock(name).unlock();
        client.getLock(taken).unlock();
        assertThrows(RedissonShutdownException.class, held::lock);
        assertThrows(RedissonShutdownException.class, () -> ending.getFairLock(name).lock());
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
                assertTrue(said.contains("plain, non_reentrant, fenced") || said.contains("are no keys"), factory + ": " + said);
                refused.add(factory.getName() + inputs.length);
            }
        }
        assertEquals(Set.of("getLock1", "getNonReentrantLock1", "getFencedLock1", "getMultiLock1", "getRedLock1"), served);
        assertEquals(Set.of("getSpinLock1", "getSpinLock2", "getFairLock1", "getNonReentrantFairLock1", "getReadWriteLock1", "getMultiLock2", "getSemaphore1",
                "getPermitExpirableSemaphore1", "getCountDownLatch1", "getKeys0", "getKeys1"), refused);
        assertThrows(UnsupportedOperationException.class, () -> TokenLock.of(client, name));
        assertThrows(UnsupportedOperationException.class, () -> client.getLock(name).addListener((DeletedObjectListener) deleted -> {}));
        assertEquals("MySQL or MariaDB does not have the kind fair; it has plain, non_reentrant, fenced, and multi and red locks of these; Redis has all kinds",
                assertThrows(UnsupportedOperationException.class, () -> client.getFairLock(name)).getMessage());
    }
}

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Holds;
import io.redlatch.Lease;
import io.redlatch.LockLostException;
import io.redlatch.LostReason;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Holds that end with a block. */
@SuppressWarnings("try") // that a block does not name its lease is what it is for
class LeaseTest extends LockTest {
    /** An owner that is no thread of this JVM. */
    private static final long OTHER = 1_000_000_007;

    @Test
    void the_end_of_a_block_gives_the_lock_back() throws Exception {
        try (Lease lease = Lease.lock(lock)) {
            assertTrue(lock.isHeldByCurrentThread() && lock.remainTimeToLive() > 20_000);
            assertFalse(lease.hold().isLost());
        }
        assertFalse(lock.isLocked());
    }

    @Test
    void a_lock_of_another_library_is_refused_before_it_is_acquired() {
        RLock wrapped = (RLock) Proxy.newProxyInstance(RLock.class.getClassLoader(), new Class<?>[] {RLock.class},
                (proxy, method, inputs) -> method.invoke(lock, inputs));
        assertThrows(IllegalArgumentException.class, () -> Lease.lock(wrapped));
        assertThrows(IllegalArgumentException.class, () -> Lease.lock(wrapped, Duration.ofSeconds(9)));
        assertThrows(IllegalArgumentException.class, () -> Lease.tryLock(wrapped, Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> Lease.tryLock(wrapped, Duration.ZERO, Duration.ofSeconds(9)));
        assertFalse(lock.isLocked());
    }

    @Test
    void any_thread_may_give_it_back_and_the_second_time_does_nothing() throws Exception {
        Lease lease = Lease.lock(lock, Duration.ofSeconds(9));
        long left = lock.remainTimeToLive();
        assertTrue(left > 5_000 && left <= 9_000, left + " ms");
        Worker.elsewhere(() -> {
            lease.close();
            return true;
        });
        assertFalse(lock.isLocked());
        lock.lock();
        lease.close();
        assertTrue(lock.isHeldByCurrentThread());
    }

    @Test
    void a_wait_in_vain_is_empty_and_one_in_time_is_not() throws Exception {
        try (Lease lease = Lease.tryLock(lock, Duration.ZERO).orElseThrow()) {
            assertEquals(Optional.empty(), Worker.elsewhere(() -> Lease.tryLock(lock, Duration.ofNanos(1))));
            assertEquals(Optional.empty(), Worker.elsewhere(() -> Lease.tryLock(lock, Duration.ofMillis(20), Duration.ofSeconds(1))));
            assertEquals(Optional.empty(), Worker.elsewhere(() -> Lease.tryLock(lock, Duration.ofSeconds(-1), Duration.ofSeconds(1))));
        }
        try (Lease lease = Lease.tryLock(lock, Duration.ofSeconds(Long.MAX_VALUE), Duration.ofMillis(1)).orElseThrow()) {
            assertFalse(lease.hold().remaining().compareTo(Duration.ofMillis(1)) > 0);
        } catch (LockLostException e) {
            assertEquals(LostReason.EXPIRED, e.reason());
        }
    }

    @Test
    void a_loss_shows_at_the_end_of_a_block_that_did_not_fail_by_itself() throws Exception {
        assertThrows(LockLostException.class, () -> {
            try (Lease lease = Lease.lock(lock)) {
                server.call("DEL", name);
            }
        });
        IllegalStateException own = new IllegalStateException("own");
        assertSame(own, assertThrows(IllegalStateException.class, () -> {
            try (Lease lease = Lease.lock(lock)) {
                server.call("DEL", name);
                throw own;
            }
        }));
        assertEquals(1, own.getSuppressed().length);
    }

    @Test
    void the_close_of_a_lease_after_the_shutdown_of_its_client_names_the_loss() {
        RedissonClient leaving = server.connect();
        Lease lease = Lease.lock(leaving.getLock(name));
        leaving.shutdown();
        assertEquals(LostReason.CLOSED, assertThrows(LockLostException.class, lease::close).reason());
    }

    @Test
    void the_close_of_a_lease_that_ran_out_names_the_loss_for_every_kind_of_lock() throws Exception {
        Map<String, RLock> kinds = kinds();
        List<String> outcomes = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        for (Map.Entry<String, RLock> kind : kinds.entrySet()) {
            RLock lost = kind.getValue();
            for (boolean isTakenMeanwhile : new boolean[] {false, true}) {
                Lease lease = Lease.lock(lost, Duration.ofMillis(50));
                Wait.until("the lease ran out", () -> lease.hold().isLost() && !lost.isLocked());
                if (isTakenMeanwhile) {
                    lost.lockAsync(OTHER).get();
                }
                String row = kind.getKey() + (isTakenMeanwhile ? ", taken by another owner: " : ", free: ");
                expected.add(row + LockLostException.class.getName());
                outcomes.add(row + closed(lease));
                if (isTakenMeanwhile) {
                    lost.unlockAsync(OTHER).get();
                }
            }
        }
        assertEquals(String.join("\n", expected), String.join("\n", outcomes));
    }

    @Test
    void the_close_of_a_lease_that_ran_out_leaves_a_later_hold_of_its_thread_of_every_kind_of_lock() throws Exception {
        for (Map.Entry<String, RLock> kind : kinds().entrySet()) {
            RLock again = kind.getValue();
            Lease lease = Lease.lock(again, Duration.ofMillis(50));
            Wait.until("the lease ran out", () -> lease.hold().isLost() && !again.isLocked());
            again.lock();
            Worker.elsewhere(() -> {
                assertEquals(LockLostException.class.getName(), closed(lease), kind.getKey());
                return true;
            });
            assertFalse(Holds.of(again).isLost(), kind.getKey());
            assertTrue(again.isHeldByCurrentThread(), kind.getKey());
            again.unlock();
            assertFalse(again.isLocked(), kind.getKey());
        }
    }

    @Test
    @SuppressWarnings("deprecation")
    void leases_of_one_thread_end_each_by_itself_in_any_order() {
        RLock multi = client.getMultiLock(client.getLock(name + "-1"), client.getLock(name + "-2"));
        RLock majority = client.getRedLock(client.getLock(name + "-3"), client.getLock(name + "-4"), client.getLock(name + "-5"));
        for (RLock held : new RLock[] {lock, client.getFairLock(name + "-fair"), client.getFencedLock(name + "-fenced"), multi, majority}) {
            Lease outer = Lease.lock(held);
            Lease inner = Lease.lock(held, Duration.ofSeconds(60));
            assertEquals("nothing", closed(outer));
            inner.hold().ensure();
            assertThrows(IllegalMonitorStateException.class, outer.hold()::ensure);
            assertEquals("nothing", closed(inner));
            assertFalse(held.isLocked());
        }
    }

    @Test
    void the_close_of_a_lease_gives_back_every_kind_of_lock() {
        kinds().forEach((kind, held) -> {
            Lease lease = Lease.lock(held);
            assertTrue(held.isLocked(), kind);
            assertEquals("nothing", closed(lease), kind);
            assertFalse(held.isLocked(), kind);
        });
    }

    @Test
    void a_lease_below_a_millisecond_is_refused_by_its_value() {
        for (Duration lease : new Duration[] {Duration.ofSeconds(-1), Duration.ZERO, Duration.ofNanos(1), Duration.ofNanos(999_999)}) {
            Throwable error = assertThrows(IllegalArgumentException.class, () -> Lease.lock(lock, lease));
            assertTrue(error.getMessage().contains(lease.toString()) && error.getMessage().contains("1 ms"), error.getMessage());
            assertThrows(IllegalArgumentException.class, () -> Lease.tryLock(lock, Duration.ZERO, lease));
        }
        assertFalse(lock.isLocked());
    }

    @Test
    void a_lease_without_a_thread_is_an_owner_of_its_own_of_every_kind_of_lock() throws Exception {
        for (Map.Entry<String, RLock> kind : kinds().entrySet()) {
            RLock held = kind.getValue();
            Lease lease = Lease.lockAsync(held).get(20, SECONDS);
            assertTrue(held.isLocked() && !held.isHeldByCurrentThread() && !lease.hold().isLost(), kind.getKey());
            if (!kind.getKey().equals("READ")) {
                assertEquals(Optional.empty(), Lease.tryLockAsync(held, Duration.ZERO).get(20, SECONDS), kind.getKey());
                assertEquals(Optional.empty(), Worker.elsewhere(() -> Lease.tryLock(held, Duration.ofMillis(5))), kind.getKey());
            }
            lease.closeAsync().get(20, SECONDS);
            assertFalse(held.isLocked(), kind.getKey());
            lease.closeAsync().get(20, SECONDS);
            lease.close();
        }
    }

    @Test
    void a_lease_without_a_thread_tells_its_loss_of_every_kind_of_lock() throws Exception {
        for (Map.Entry<String, RLock> kind : kinds().entrySet()) {
            RLock held = kind.getValue();
            Lease lease = Lease.tryLockAsync(held, Duration.ofSeconds(20), Duration.ofMillis(50)).get(20, SECONDS).orElseThrow();
            Wait.until("the lease ran out", () -> lease.hold().isLost() && !held.isLocked());
            Throwable told = assertThrows(ExecutionException.class, () -> lease.closeAsync().get(20, SECONDS), kind.getKey()).getCause();
            assertEquals(LostReason.EXPIRED, assertInstanceOf(LockLostException.class, told, kind.getKey()).reason());
        }
    }

    @Test
    void a_request_for_a_lease_that_is_cancelled_leaves_nothing() throws Exception {
        for (int round = 0; round < 300; round++) {
            CompletableFuture<Lease> asked = Lease.lockAsync(lock, Duration.ofSeconds(60));
            LockSupport.parkNanos(round * 2_000L);
            if (!asked.cancel(true)) { // the answer was quicker
                asked.get().close();
            }
        }
        Lease first = Lease.lockAsync(lock).get(20, SECONDS);
        CompletableFuture<Optional<Lease>> waiter = Lease.tryLockAsync(lock, Duration.ofSeconds(60));
        Wait.until("it waits", () -> server.listeners(name) == 1);
        waiter.cancel(false);
        Wait.until("it waits no more", () -> server.listeners(name) == 0);
        first.close();
        assertFalse(lock.isLocked());
    }

    @Test
    void the_work_of_a_lease_ends_it_whichever_way_it_ends() throws Exception {
        CompletableFuture<Boolean> seen = Lease.during(Lease.lockAsync(lock), lease -> CompletableFuture.supplyAsync(lock::isLocked));
        assertTrue(seen.get(20, SECONDS) && !lock.isLocked());
        IllegalStateException own = new IllegalStateException("own");
        assertSame(own, failure(lease -> CompletableFuture.failedFuture(own)));
        assertSame(own, failure(lease -> {
            throw own;
        }));
        assertInstanceOf(NullPointerException.class, failure(lease -> null));
        assertEquals(LostReason.DELETED, assertInstanceOf(LockLostException.class, failure(this::losing)).reason());
        assertSame(own, failure(lease -> losing(lease).thenCompose(nothing -> CompletableFuture.failedFuture(own))));
        assertInstanceOf(LockLostException.class, own.getSuppressed()[0]);
        assertFalse(lock.isLocked());
        assertInstanceOf(IllegalMonitorStateException.class, failure(lease -> lease.closeAsync().thenCompose(nothing ->
                CompletableFuture.failedFuture(new IllegalMonitorStateException("of the work")))));
    }

    private CompletableFuture<Void> losing(Lease lease) {
        return CompletableFuture.runAsync(() -> {
            lock.forceUnlock();
            try {
                Wait.until("the loss is known", lease.hold()::isLost);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
    }

    private Throwable failure(Function<Lease, CompletionStage<Void>> work) {
        return assertThrows(ExecutionException.class, () -> Lease.during(Lease.lockAsync(lock), work).get(20, SECONDS)).getCause();
    }

    @Test
    void a_cancelled_run_gives_its_wait_up_and_keeps_the_lock_of_work_that_goes_on() throws Exception {
        CompletableFuture<Void> work = new CompletableFuture<>();
        CompletableFuture<Void> working = Lease.during(Lease.lockAsync(lock), lease -> work);
        Wait.until("the work has begun", lock::isLocked);
        CompletableFuture<Void> waiting = Lease.during(Lease.lockAsync(lock), lease -> work);
        Wait.until("it waits", () -> server.listeners(name) == 1);
        waiting.cancel(false);
        Wait.until("it waits no more", () -> server.listeners(name) == 0);
        working.cancel(false);
        assertTrue(lock.isLocked());
        work.complete(null);
        Wait.until("the work is done", () -> !lock.isLocked());
        for (int round = 0; round < 300; round++) {
            CompletableFuture<Void> run = Lease.during(Lease.lockAsync(lock), lease -> CompletableFuture.completedFuture(null));
            LockSupport.parkNanos(round * 2_000L);
            run.cancel(true);
        }
        Wait.until("nothing is held", () -> !lock.isLocked());
        assertTrue(Lease.tryLockAsync(lock, Duration.ofSeconds(20)).get(20, SECONDS).isPresent());
    }

    @Test
    void a_lease_without_a_thread_refuses_what_one_with_a_thread_does() {
        RLock foreign = (RLock) Proxy.newProxyInstance(RLock.class.getClassLoader(), new Class<?>[] {RLock.class},
                (proxy, method, inputs) -> method.invoke(lock, inputs));
        assertThrows(IllegalArgumentException.class, () -> Lease.lockAsync(foreign));
        assertThrows(IllegalArgumentException.class, () -> Lease.tryLockAsync(foreign, Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> Lease.lockAsync(lock, Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> Lease.tryLockAsync(lock, Duration.ZERO, Duration.ofNanos(1)));
        assertFalse(lock.isLocked());
    }

    /** The exception of the close of a lease. */
    private static String closed(Lease lease) {
        try {
            lease.close();
            return "nothing";
        } catch (RuntimeException e) {
            return e.getClass().getName();
        }
    }

    @SuppressWarnings("deprecation")
    private Map<String, RLock> kinds() {
        Map<String, RLock> kinds = new LinkedHashMap<>();
        LockKind.ofOneName().forEach(kind -> kinds.put(kind.name(), kind.of(client, name + "-" + kind)));
        kinds.put("multi", client.getMultiLock(client.getLock(name + "-1"), client.getLock(name + "-2")));
        kinds.put("multi of fair", client.getMultiLock(client.getFairLock(name + "-3"), client.getFairLock(name + "-4")));
        kinds.put("majority", client.getRedLock(client.getLock(name + "-5"), client.getLock(name + "-6"), client.getLock(name + "-7")));
        kinds.put("values", client.getMultiLock(name + "-values", List.of("a", "b")));
        return kinds;
    }
}

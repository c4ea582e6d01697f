import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RFuture;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.options.CommonOptions;
import org.redisson.client.RedisException;

/** Semaphores whose permits have ids, and end by themselves. */
class PermitSemaphoreTest extends LockTest {
    private RPermitExpirableSemaphore semaphore;

    @BeforeEach
    void make() {
        semaphore = client.getPermitExpirableSemaphore(CommonOptions.name(name));
    }

    private List<Integer> counts() {
        return List.of(semaphore.availablePermits(), semaphore.acquiredPermits(), semaphore.getPermits());
    }

    @Test
    void permits_go_back_by_their_ids_each_once_by_any_thread() throws Exception {
        assertTrue(semaphore.trySetPermits(6));
        assertFalse(semaphore.trySetPermits(9));
        List<String> ids = new ArrayList<>(semaphore.acquire(3));
        ids.add(semaphore.acquire());
        ids.add(semaphore.tryAcquire());
        ids.add(semaphore.tryAcquire(1, SECONDS));
        assertEquals(6, new HashSet<>(ids).size());
        ids.forEach(id -> assertTrue(id.matches("[0-9a-f]{32}"), id));
        assertEquals("6", server.call("ZCOUNT", "{" + name + "}:timeout", "922337203685477", "922337203685477").toString());
        assertNull(semaphore.tryAcquire());
        assertNull(semaphore.tryAcquire(50, MILLISECONDS));
        assertEquals(List.of(), semaphore.tryAcquire(2));
        assertEquals(List.of(0, 6, 6), counts());
        Worker.elsewhere(() -> {
            client.getPermitExpirableSemaphore(name).release(ids.get(0));
            return true;
        });
        assertFalse(semaphore.tryRelease(ids.get(0)));
        assertEquals(0, semaphore.tryRelease(ids.subList(0, 3)));
        assertEquals(2, semaphore.tryRelease(ids.subList(1, 3)));
        semaphore.release(ids.subList(3, 6));
        semaphore.addPermits(-1);
        semaphore.setPermits(2);
        assertEquals(List.of(2, 0, 2), counts());
        assertTrue(semaphore.delete());
        assertFalse(semaphore.isExists());
    }

    @Test
    void a_permit_ends_with_its_lease() throws Exception {
        semaphore.trySetPermits(2);
        String id = semaphore.acquire(60, SECONDS);
        assertTrue(semaphore.getLeaseTime(id) > 50_000 && semaphore.getLeaseTime(id) <= 60_000);
        assertTrue(semaphore.updateLeaseTime(id, -1, SECONDS));
        assertEquals(-1, semaphore.getLeaseTime(id));
        assertTrue(semaphore.updateLeaseTime(id, 300, MILLISECONDS));
        List<String> both = semaphore.tryAcquire(2, 20, -1, SECONDS);
        assertEquals(2, both.size());
        assertFalse(semaphore.updateLeaseTime(id, 60, SECONDS));
        assertFalse(semaphore.tryRelease(id));
        assertEquals(List.of(0, 2, 2), counts());
        semaphore.release(both);
        assertEquals(1, semaphore.acquire(1, 10, MILLISECONDS).size());
        Wait.until("its end", () -> semaphore.acquiredPermits() == 0);
    }

    @Test
    void permits_that_are_not_out_are_told_by_redissons_exception() throws Exception {
        semaphore.trySetPermits(1);
        String id = semaphore.acquire();
        semaphore.release(id);
        String said = "no permit " + id + " is out: it was released, its lease has ended, or it never was";
        assertEquals(said, assertThrows(RedisException.class, () -> semaphore.release(id)).getCause().getMessage());
        assertEquals(said, assertThrows(RedisException.class, () -> semaphore.getLeaseTime(id)).getCause().getMessage());
        for (RFuture<?> failed : List.of(semaphore.releaseAsync(id), semaphore.getLeaseTimeAsync(id))) {
            Throwable error = assertThrows(ExecutionException.class, failed::get).getCause();
            assertEquals(IllegalArgumentException.class, error.getClass());
            assertEquals(said, error.getMessage());
        }
        String several = "not all of the permits [" + id + "] are out: they were released, their leases have ended, or they never were";
        assertEquals(several, assertThrows(RedisException.class, () -> semaphore.release(List.of(id))).getCause().getMessage());
        assertFalse(semaphore.tryRelease("ab12"));
        assertThrows(RedisException.class, () -> semaphore.getLeaseTime("ab12"));
        assertThrows(ExecutionException.class, semaphore.releaseAsync("ab12")::get);
        assertFalse(semaphore.updateLeaseTimeAsync("ab12", 1, SECONDS).get());
    }

    @Test
    void arguments_that_cannot_be_used_are_refused_by_name() throws Exception {
        assertEquals("the number of permits is -1; give 0 or more", assertThrows(IllegalArgumentException.class, () -> semaphore.tryAcquire(-1)).getMessage());
        assertEquals("the id of a permit is null; give the one that acquire returned", assertThrows(IllegalArgumentException.class, () -> semaphore.tryRelease((String) null)).getMessage());
        assertEquals("there are no ids of permits; give those that acquire returned", assertThrows(IllegalArgumentException.class, () -> semaphore.release(List.of())).getMessage());
        assertTrue(assertThrows(IllegalArgumentException.class, () -> semaphore.release("xyz!")).getMessage().contains("xyz!"));
        for (long lease : new long[] {0, -2}) {
            String said = assertThrows(IllegalArgumentException.class, () -> semaphore.acquire(lease, SECONDS)).getMessage();
            assertTrue(said.contains(name) && said.contains(lease + " SECONDS") && said.contains("-1 for no end"), said);
        }
        assertThrows(IllegalArgumentException.class, () -> semaphore.trySetPermits(-1));
        assertEquals(List.of(), semaphore.acquire(0));
        assertEquals(List.of(), semaphore.tryAcquire(0));
        assertFalse(semaphore.isExists());
        lock.lock();
        assertTrue(assertThrows(RedisException.class, semaphore::acquire).getMessage().contains(name));
        lock.unlock();
    }

    @Test
    void an_interrupt_and_a_cancellation_end_a_wait_and_take_nothing() throws Exception {
        semaphore.trySetPermits(1);
        String id = semaphore.acquire();
        RFuture<String> given_up = semaphore.acquireAsync();
        Worker<List<String>> waiter = Worker.start(() -> semaphore.tryAcquire(1, 20, 60, SECONDS));
        assertTrue(given_up.cancel(true));
        semaphore.release(id);
        semaphore.release(waiter.get());
        for (int i = 0; i < 50; i++) {
            RFuture<List<String>> acquiring = semaphore.acquireAsync(1, 60, SECONDS);
            if (!acquiring.cancel(true)) { // the answer came first: the permit is the caller's
                semaphore.release(acquiring.get());
            }
        }
        // Each acquire may still take the permit for a moment, and gives it back.
        Wait.until("nothing was taken", () -> counts().equals(List.of(1, 0, 1)));
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, semaphore::acquire);
        semaphore.release(semaphore.acquire());
        Wait.until("nothing was taken", () -> counts().equals(List.of(1, 0, 1)));
    }

    @Test
    void everything_has_an_asynchronous_half() throws Exception {
        assertTrue(semaphore.trySetPermitsAsync(9).get());
        List<String> ids = new ArrayList<>(semaphore.acquireAsync(2).get());
        ids.addAll(semaphore.acquireAsync(2, 60, SECONDS).get());
        ids.addAll(semaphore.tryAcquireAsync(1).get());
        ids.addAll(semaphore.tryAcquireAsync(1, 1, 60, SECONDS).get());
        String one = semaphore.acquireAsync(60, SECONDS).get();
        assertEquals(9, ids.size() + 3);
        ids.add(semaphore.tryAcquireAsync(1, SECONDS).get());
        ids.add(semaphore.tryAcquireAsync(1, 60, SECONDS).get());
        assertNull(semaphore.tryAcquireAsync().get());
        assertEquals(List.of(), semaphore.tryAcquireAsync(1).get());
        assertTrue(semaphore.updateLeaseTimeAsync(one, 30, SECONDS).get());
        assertTrue(semaphore.getLeaseTimeAsync(one).get() <= 30_000);
        assertTrue(semaphore.tryReleaseAsync(one).get());
        assertEquals(8, semaphore.tryReleaseAsync(ids).get());
        semaphore.setPermitsAsync(3).get();
        semaphore.addPermitsAsync(1).get();
        String last = semaphore.acquireAsync().get();
        assertNotEquals(one, last);
        assertEquals(List.of(3, 1, 4), List.of(semaphore.availablePermitsAsync().get(), semaphore.acquiredPermitsAsync().get(),
                semaphore.getPermitsAsync().get()));
        semaphore.releaseAsync(last).get();
        semaphore.releaseAsync(semaphore.acquireAsync(2).get()).get();
        assertTrue(semaphore.deleteAsync().get());
    }

    @Test
    void the_semaphore_may_have_an_end_and_its_permits_go_with_it() throws Exception {
        semaphore.trySetPermits(1);
        semaphore.acquire();
        assertTrue(semaphore.expire(Duration.ofSeconds(50)) && semaphore.touch() && semaphore.touchAsync().get(10, SECONDS));
        String leases = "{" + name + "}:timeout";
        assertTrue(Long.parseLong(server.call("PTTL", leases).toString()) > 40_000);
        assertTrue(semaphore.clearExpire());
        assertEquals("-1", server.call("PTTL", leases).toString());
        assertTrue(semaphore.expire(Duration.ofMillis(1)));
        Wait.until("both are gone", () -> server.call("EXISTS", name, leases).toString().equals("0"));
    }
}

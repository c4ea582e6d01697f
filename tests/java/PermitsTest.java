import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFuture;
import org.redisson.api.RSemaphore;
import org.redisson.api.options.CommonOptions;

/** Semaphores and latches. */
class PermitsTest extends LockTest {
    @Test
    void permits_are_taken_and_given_back_by_any_thread() throws Exception {
        RSemaphore semaphore = client.getSemaphore(name);
        assertTrue(semaphore.trySetPermits(5));
        assertFalse(semaphore.trySetPermits(9));
        semaphore.acquire();
        semaphore.acquire(2);
        assertEquals(2, semaphore.availablePermits());
        assertFalse(semaphore.tryAcquire(3));
        assertFalse(semaphore.tryAcquire(3, Duration.ofMillis(50)));
        assertTrue(semaphore.tryAcquire());
        assertTrue(semaphore.tryAcquire(Duration.ofSeconds(1)));
        assertFalse(tryOld(semaphore, 1, 50, MILLISECONDS));
        Worker.elsewhere(() -> {
            semaphore.release(2);
            semaphore.release();
            return true;
        });
        assertEquals(3, semaphore.drainPermits());
        semaphore.addPermits(4);
        assertEquals("4", server.call("GET", name));
        assertTrue(semaphore.releaseIfExists(1));
        assertTrue(semaphore.delete());
        assertFalse(semaphore.releaseIfExists(1));
    }

    @SuppressWarnings("deprecation")
    private static boolean tryOld(RSemaphore semaphore, int permits, long wait, TimeUnit unit) throws InterruptedException {
        return semaphore.tryAcquire(wait, unit) || semaphore.tryAcquire(permits, wait, unit);
    }

    @Test
    void zero_permits_are_always_there_and_fewer_are_refused_in_redissons_words() throws Exception {
        RSemaphore semaphore = client.getSemaphore(CommonOptions.name(name));
        semaphore.acquire(0);
        semaphore.release(0);
        assertTrue(semaphore.tryAcquire(0));
        assertTrue(semaphore.tryAcquireAsync(0).get());
        Throwable error = assertThrows(IllegalArgumentException.class, () -> semaphore.tryAcquire(-1));
        assertEquals("the number of permits is -1; give 0 or more", error.getMessage());
        assertFalse(semaphore.isExists());
    }

    @Test
    void a_release_wakes_a_waiter_and_an_interrupt_ends_it() throws Exception {
        RSemaphore semaphore = client.getSemaphore(name);
        semaphore.trySetPermits(1);
        semaphore.acquire();
        RFuture<Void> waiting = semaphore.acquireAsync();
        Worker<Boolean> waiter = Worker.start(() -> semaphore.tryAcquire(Duration.ofSeconds(20)));
        RFuture<Void> given_up = semaphore.acquireAsync();
        assertTrue(given_up.cancel(true));
        semaphore.release(2);
        waiting.get(10, SECONDS);
        assertTrue(waiter.get());
        Wait.until("nothing was taken", () -> semaphore.availablePermits() == 0);
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, semaphore::acquire);
    }

    @Test
    void everything_has_an_asynchronous_half() throws Exception {
        RSemaphore semaphore = client.getSemaphore(name);
        assertTrue(semaphore.trySetPermitsAsync(3, Duration.ofSeconds(50)).get());
        assertFalse(semaphore.trySetPermitsAsync(3).get());
        assertTrue(semaphore.remainTimeToLiveAsync().get() > 40_000);
        assertTrue(semaphore.tryAcquireAsync().get());
        assertTrue(semaphore.tryAcquireAsync(1, Duration.ofSeconds(1)).get());
        assertTrue(semaphore.tryAcquireAsync(Duration.ofSeconds(1)).get());
        assertFalse(semaphore.tryAcquireAsync(1).get());
        semaphore.releaseAsync().get();
        semaphore.releaseAsync(2).get();
        semaphore.addPermitsAsync(1).get();
        assertEquals(4, semaphore.availablePermitsAsync().get());
        assertEquals(4, semaphore.drainPermitsAsync().get());
        assertTrue(semaphore.releaseIfExistsAsync(1).get());
        assertTrue(semaphore.isExistsAsync().get());
        assertTrue(semaphore.deleteAsync().get());
    }

    @Test
    void a_semaphore_may_have_an_end() {
        RSemaphore semaphore = client.getSemaphore(name);
        assertFalse(semaphore.expire(Duration.ofSeconds(50)));
        assertEquals(-2, semaphore.remainTimeToLive());
        assertTrue(semaphore.trySetPermits(1, Duration.ofSeconds(50)));
        assertTrue(semaphore.remainTimeToLive() > 40_000);
        assertTrue(semaphore.expire(Instant.now().plusSeconds(20)));
        assertTrue(semaphore.remainTimeToLive() <= 20_000);
        assertTrue(semaphore.clearExpire());
        assertFalse(semaphore.clearExpire());
        assertEquals(-1, semaphore.remainTimeToLive());
        assertEquals(name, semaphore.getName());
        assertTrue(semaphore.unlink());
    }

    @Test
    @SuppressWarnings("deprecation")
    void an_end_may_be_given_as_redisson_3_did() throws Exception {
        RSemaphore semaphore = client.getSemaphore(name);
        semaphore.trySetPermits(1);
        long soon = System.currentTimeMillis() + 20_000;
        for (Callable<Boolean> expire : List.<Callable<Boolean>>of(() -> semaphore.expire(20, SECONDS),
                () -> semaphore.expireAsync(20, SECONDS).get(), () -> semaphore.expireAt(soon), () -> semaphore.expireAtAsync(soon).get(),
                () -> semaphore.expireAt(new Date(soon)), () -> semaphore.expireAtAsync(new Date(soon)).get(),
                () -> semaphore.expireAt(new java.sql.Date(soon)), () -> semaphore.expireAtAsync(new java.sql.Date(soon)).get())) {
            semaphore.clearExpire();
            assertTrue(expire.call());
            assertTrue(semaphore.remainTimeToLive() > 5_000 && semaphore.remainTimeToLive() <= 20_000);
        }
    }

    @Test
    void the_last_count_lets_every_waiter_go() throws Exception {
        RCountDownLatch latch = client.getCountDownLatch(name);
        assertTrue(latch.trySetCount(2));
        assertFalse(latch.trySetCount(2));
        assertFalse(latch.await(50, MILLISECONDS));
        RFuture<Void> waiting = latch.awaitAsync();
        Worker<Boolean> waiter = Worker.start(() -> latch.await(20, SECONDS));
        latch.countDown();
        assertEquals(1, latch.getCount());
        assertFalse(waiting.isDone());
        latch.countDownAsync().get();
        waiting.get(10, SECONDS);
        assertTrue(waiter.get());
        latch.await();
        assertEquals(0, latch.getCountAsync().get());
        assertTrue(latch.awaitAsync(1, SECONDS).get());
        assertTrue(latch.trySetCountAsync(1).get());
        assertTrue(latch.delete());
        assertThrows(IllegalArgumentException.class, () -> latch.trySetCount(0));
    }
}

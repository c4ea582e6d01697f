import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RLockAsync;

/** Users' futures: they chain, block, cancel and complete them. */
class FutureTest extends LockTest {
    private static final long ALICE = 1_000_001;
    private static final long BOB = 1_000_002;

    @Test
    void continuations_never_run_on_the_thread_that_fetches_completions() throws Exception {
        lock.lock();
        CompletableFuture<String> ran = new CompletableFuture<>();
        lock.lockAsync(ALICE).thenRun(() -> ran.complete(Thread.currentThread().getName()));
        lock.unlock();
        assertNotEquals("redlatch-completions", ran.get(10, SECONDS));
    }

    @Test
    void continuations_that_block_hold_no_other_up() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        lock.lock();
        lock.lockAsync(ALICE).thenRun(() -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        lock.unlock();
        Wait.until("its continuation blocks", () -> lock.isHeldByThread(ALICE));
        RLock other = client.getLock(name + "-other");
        other.lockAsync(BOB).get(10, SECONDS);
        assertFalse(Worker.elsewhere(() -> other.tryLock(20, MILLISECONDS)));
        end.countDown();
    }

    @Test
    void a_continuation_may_call_what_blocks() throws Exception {
        List<CompletableFuture<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            long id = ALICE + i;
            RLock first = client.getLock(name + "-" + i);
            all.add(first.lockAsync(id).thenApply(nothing -> {
                lock.lock();
                lock.unlock();
                return first.isHeldByThread(id);
            }).toCompletableFuture());
        }
        for (CompletableFuture<Boolean> each : all) {
            assertTrue(each.get(20, SECONDS));
        }
    }

    @Test
    void an_application_that_holds_the_monitor_of_a_future_delays_no_thread_of_the_client() throws Exception {
        lock.lock();
        RFuture<Void> future = lock.lockAsync(ALICE);
        synchronized (future) {
            assertTrue(Worker.elsewhere(() -> future.cancel(true)));
        }
    }

    @Test
    void a_cancelled_lockAsync_holds_nothing() throws Exception {
        lock.lock();
        RFuture<Void> future = lock.lockAsync(ALICE);
        Wait.until("it waits", () -> server.listeners(name) == 1);
        assertTrue(future.cancel(true));
        assertTrue(future.isCancelled());
        Wait.until("it waits no more", () -> server.listeners(name) == 0);
        lock.unlock();
        assertFalse(lock.isLocked());
    }

    @Test
    void a_lockAsync_that_is_cancelled_while_it_acquires_gives_the_hold_back() throws Exception {
        for (int round = 0; round < 200; round++) {
            if (!lock.lockAsync(ALICE).cancel(false)) { // the answer was quicker
                lock.unlockAsync(ALICE).get(10, SECONDS);
            }
        }
        assertTrue(lock.tryLock(10, SECONDS));
        lock.unlock();
        Wait.until("nothing is left", () -> !lock.isLocked());
    }

    @Test
    void a_lockAsync_that_times_out_holds_nothing() throws Exception {
        lock.lock();
        CompletableFuture<Void> future = lock.lockAsync(ALICE).toCompletableFuture().orTimeout(50, MILLISECONDS);
        assertInstanceOf(TimeoutException.class, assertThrows(ExecutionException.class, future::get).getCause());
        Wait.until("it waits no more", () -> server.listeners(name) == 0);
        lock.unlock();
        assertFalse(lock.isLocked());
    }

    @Test
    void every_blocking_operation_has_its_future() throws Exception {
        for (var method : RLock.class.getDeclaredMethods()) {
            String twin = method.getName().replace("Interruptibly", "").replace("ByCurrentThread", "ByThread") + "Async";
            if (List.of("getName", "newCondition").contains(method.getName()) || method.isSynthetic()) {
                continue;
            }
            assertTrue(List.of(RLock.class.getMethods()).stream().anyMatch(other -> other.getName().equals(twin)), twin);
        }
        assertEquals(16, RLockAsync.class.getDeclaredMethods().length);
    }

    @Test
    @SuppressWarnings("deprecation")
    void the_methods_of_redisson_3_are_there_and_do_what_they_did() throws Exception {
        RFuture<Boolean> done = lock.tryLockAsync(ALICE);
        assertTrue(done.sync() == done && done.await() == done && done.awaitUninterruptibly() == done && done.syncUninterruptibly() == done);
        assertTrue(done.isSuccess() && done.getNow() && done.join() && done.await(1) && done.awaitUninterruptibly(1, SECONDS));
        assertNull(done.cause());
        RFuture<Void> failed = lock.unlockAsync(BOB);
        assertTrue(failed.await(10, SECONDS) && failed.awaitUninterruptibly(10_000));
        assertInstanceOf(IllegalMonitorStateException.class, failed.cause());
        assertFalse(failed.isSuccess());
        assertThrows(IllegalMonitorStateException.class, failed::sync);
        assertThrows(IllegalMonitorStateException.class, failed::syncUninterruptibly);
        assertThrows(CompletionException.class, failed::getNow);
        RFuture<Void> open = lock.lockAsync(BOB);
        assertFalse(open.await(1) || open.awaitUninterruptibly(1) || open.isSuccess());
        assertNull(open.cause());
        assertNull(open.getNow());
        Thread.currentThread().interrupt();
        assertFalse(open.awaitUninterruptibly(10, SECONDS));
        assertThrows(InterruptedException.class, () -> open.await(10, SECONDS));
        CompletableFuture<Throwable> told = new CompletableFuture<>();
        open.onComplete((value, error) -> told.complete(error));
        open.cancel(true);
        assertInstanceOf(CancellationException.class, told.get(10, SECONDS));
        assertInstanceOf(CancellationException.class, open.cause());
    }
}

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Holds;
import io.redlatch.LockLostException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** The threads on which users' code runs: their names, and that no answer waits for code that blocks. */
class CallbackTest extends LockTest {
    private static final int MANY = 200;
    /** How long the server of a loaded machine may take, in ms. */
    private static final int TIMEOUT_MS = 20_000;

    @Override
    @BeforeEach
    void connect() throws Exception {
        super.connect();
        client.shutdown();
        client = Redisson.create(RetriedCalls.config(server, TIMEOUT_MS, 1, 1000));
        lock = client.getLock(name);
    }

    @Test
    void continuations_that_block_delay_neither_other_futures_nor_a_loss() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch blocked = new CountDownLatch(MANY);
        RCountDownLatch start = client.getCountDownLatch(name + "-start");
        start.trySetCount(1);
        for (int i = 0; i < MANY; i++) {
            start.awaitAsync().thenRun(() -> {
                blocked.countDown();
                uninterruptibly(end);
            });
        }
        start.countDown(); // not before: the continuation of a future that is done runs at once
        assertTrue(blocked.await(20, SECONDS), blocked.getCount() + " continuations wait for others that block");
        assertTrue(lock.tryLockAsync(7).get(20, SECONDS));
        lock.unlockAsync(7).get(20, SECONDS);
        lock.lock();
        CompletableFuture<LockLostException> told = new CompletableFuture<>();
        Holds.of(lock).onLost(told::complete);
        server.call("DEL", name);
        assertTrue(told.get(20, SECONDS).getMessage().contains(name));
        end.countDown();
    }

    @Test
    void listeners_of_losses_that_block_delay_no_other_loss() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch blocked = new CountDownLatch(MANY);
        List<String> keys = new ArrayList<>(List.of("DEL"));
        for (int i = 0; i < MANY; i++) {
            RLock each = client.getLock(name + "-" + i);
            each.lock();
            Holds.of(each).onLost(loss -> {
                blocked.countDown();
                uninterruptibly(end);
            });
            keys.add(each.getName());
        }
        server.call(keys.toArray(new String[0]));
        assertTrue(blocked.await(20, SECONDS), blocked.getCount() + " losses wait for listeners that block");
        end.countDown();
    }

    @Test
    void users_code_runs_on_a_thread_of_ours_with_the_class_loader_of_the_application() throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        RedissonClient made;
        try (URLClassLoader application = new URLClassLoader(new URL[0], before)) {
            Thread.currentThread().setContextClassLoader(application);
            try {
                made = Redisson.create(RetriedCalls.config(server, TIMEOUT_MS, 1, 1000));
            } finally {
                Thread.currentThread().setContextClassLoader(before);
            }
            RLock held = made.getLock(name);
            held.lock();
            CompletableFuture<Thread> thread = new CompletableFuture<>();
            CompletableFuture<ClassLoader> loader = new CompletableFuture<>();
            held.lockAsync(7).thenRun(() -> {
                loader.complete(Thread.currentThread().getContextClassLoader());
                thread.complete(Thread.currentThread());
            });
            CompletableFuture<ClassLoader> ofListener = new CompletableFuture<>();
            Holds.of(held).onLost(loss -> ofListener.complete(Thread.currentThread().getContextClassLoader()));
            held.forceUnlock();
            assertSame(application, loader.get(20, SECONDS));
            assertSame(application, ofListener.get(20, SECONDS));
            assertTrue(thread.get().getName().startsWith("redlatch-"), thread.get().getName());
            made.shutdown();
            Wait.until("the thread has ended, or has the loader no more", () -> thread.get().getContextClassLoader() == null);
        }
    }

    @Test
    void the_threads_of_a_burst_end_soon() throws Exception {
        long before = threads();
        continuations_that_block_delay_neither_other_futures_nor_a_loss();
        Wait.until("the threads have ended", () -> threads() <= Math.max(1, before));
    }

    @Test
    void many_short_continuations_are_run_by_a_few_threads() throws Exception {
        CompletableFuture<?>[] all = new CompletableFuture<?>[5000];
        Set<String> names = ConcurrentHashMap.newKeySet();
        for (int i = 0; i < all.length; i++) {
            all[i] = lock.isLockedAsync().thenRun(() -> names.add(Thread.currentThread().getName())).toCompletableFuture();
        }
        CompletableFuture.allOf(all).get(50, SECONDS);
        assertTrue(names.size() <= 100, names.size() + " threads");
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().startsWith("redlatch-callbacks-")).count();
    }

    private static void uninterruptibly(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

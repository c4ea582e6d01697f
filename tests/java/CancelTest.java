import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A caller that gives up, at any moment, leaves nothing behind: no hold, no subscription, no place in a line. */
class CancelTest extends LockTest {
    private static final int ROUNDS = 2000;
    private static final int LOCKS = 3;
    private static final int LATEST_US = 1500;

    /** How an acquire is given up. */
    private enum Way { CANCEL, CANCEL_TRY, TIME_OUT, COMPLETE, INTERRUPT, INTERRUPT_TRY }

    @Test
    void two_thousand_acquires_that_are_given_up_at_random_moments_leave_nothing() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        RedissonClient other = server.connect();
        ExecutorService threads = Executors.newCachedThreadPool();
        CountDownLatch end = new CountDownLatch(1);
        List<Future<?>> rivals = new ArrayList<>();
        for (int i = 0; i < LOCKS; i++) { // so that some acquires meet a holder of this client, some one of another
            RLock rival = (i % 2 == 0 ? client : other).getLock(name + "-" + i);
            rivals.add(threads.submit(() -> compete(rival, end)));
        }
        Map<Way, Integer> taken = new EnumMap<>(Way.class);
        for (int round = 0; round < ROUNDS; round++) {
            Way way = Way.values()[random.nextInt(Way.values().length)];
            long delay = random.nextInt(LATEST_US);
            if (giveUp(way, client.getLock(name + "-" + random.nextInt(LOCKS)), 1_000_000 + round, delay, threads)) {
                taken.merge(way, 1, Integer::sum);
            }
        }
        end.countDown();
        for (Future<?> rival : rivals) {
            rival.get(20, SECONDS);
        }
        String seen = "seed " + seed + ", acquired before they were given up: " + taken;
        for (int i = 0; i < LOCKS; i++) {
            String each = name + "-" + i;
            Wait.until("there is no holder of " + each + ", " + seen, () -> server.call("EXISTS", each).equals(0L));
            Wait.until("no client waits for " + each + ", " + seen, () -> server.listeners(each) == 0);
            assertTrue(other.getLock(each).tryLock(), seen);
            other.getLock(each).unlock();
        }
        assertEquals(Way.values().length, taken.size(), "every way is taken early and late, " + seen);
        assertTrue(taken.values().stream().mapToInt(Integer::intValue).sum() < ROUNDS, seen);
        threads.shutdown();
        other.shutdown();
    }

    private static Void compete(RLock lock, CountDownLatch end) throws InterruptedException {
        while (!end.await(200, MICROSECONDS)) {
            lock.lock();
            LockSupport.parkNanos(300_000);
            lock.unlock();
        }
        return null;
    }

    /** True: it had been acquired before, and was released. */
    private static boolean giveUp(Way way, RLock lock, long id, long delay, ExecutorService threads) throws Exception {
        switch (way) {
            case INTERRUPT:
            case INTERRUPT_TRY:
                return interrupt(way, lock, delay, threads);
            case TIME_OUT:
                CompletableFuture<Void> limited = lock.lockAsync(id).toCompletableFuture().orTimeout(delay, MICROSECONDS);
                return acquired(limited, lock, id);
            default:
                CompletableFuture<?> future = (way == Way.CANCEL_TRY ? lock.tryLockAsync(30, -1, SECONDS, id) : lock.lockAsync(id))
                        .toCompletableFuture();
                LockSupport.parkNanos(delay * 1000);
                if (way == Way.COMPLETE) {
                    future.completeExceptionally(new IllegalStateException("not wanted any more"));
                } else {
                    future.cancel(delay % 2 == 0);
                }
                return acquired(future, lock, id);
        }
    }

    private static boolean acquired(CompletableFuture<?> future, RLock lock, long id) throws Exception {
        try {
            Object result = future.get(20, SECONDS);
            assertTrue(result == null || result.equals(true), "no thread holds it for so long");
        } catch (ExecutionException | CancellationException e) {
            return false;
        }
        lock.unlockAsync(id).get(20, SECONDS);
        return true;
    }

    private static boolean interrupt(Way way, RLock lock, long delay, ExecutorService threads) throws Exception {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        Future<Boolean> acquired = threads.submit(() -> {
            thread.complete(Thread.currentThread());
            try {
                if (way == Way.INTERRUPT) {
                    lock.lockInterruptibly();
                } else {
                    assertTrue(lock.tryLock(30, SECONDS), "no thread holds it for so long");
                }
            } catch (InterruptedException e) {
                assertEquals(0, lock.getHoldCount());
                return false;
            }
            lock.unlock();
            return true;
        });
        thread.get();
        LockSupport.parkNanos(delay * 1000);
        thread.get().interrupt();
        return acquired.get(20, SECONDS);
    }
}

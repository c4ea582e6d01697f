import io.redlatch.Lease;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The main class of a child JVM whose common pool has workers, as on machines with more than two processors: its tasks take locks. */
public final class PoolTasks {
    /** How many the common pool has for workers that block, if no property says otherwise. */
    private static final int SPARE_THREADS = 256;
    private static final int MORE_THAN_SPARE_THREADS = 400;
    private static final int CHILDREN = 8;
    private static final int MORE_THAN_WORKERS = 100;

    private final RedissonClient client;
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();

    private PoolTasks(RedissonClient client) {
        this.client = client;
    }

    /** @param arguments an address, and what to do: {@code many}, {@code children} or {@code closing} */
    public static void main(String... arguments) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]);
        RedissonClient client = Redisson.create(config);
        PoolTasks tasks = new PoolTasks(client);
        RLock lock = client.getLock("pool-" + arguments[1]);
        lock.lock();
        CompletableFuture<Void> all;
        if (arguments[1].equals("many")) {
            all = tasks.many(lock);
            Wait.until("the pool has no spare thread left", () -> tasks.failed.get() > 0 || workers() >= SPARE_THREADS);
        } else if (arguments[1].equals("children")) {
            all = tasks.parent(lock);
            Wait.until("every task has begun", () -> tasks.begun.get() == 1 + CHILDREN);
        } else {
            all = tasks.closing();
        }
        lock.unlock();
        try {
            all.exceptionally(error -> null).get(20, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            System.out.print("some wait for ever, ");
        }
        System.out.println(tasks.failed + " failed, " + tasks.most + " inside at most, " + (lock.isLocked() ? "still locked" : "free"));
        client.shutdown();
    }

    /** More tasks wait for the lock than the pool has spare threads. */
    private CompletableFuture<Void> many(RLock lock) {
        CompletableFuture<?>[] all = new CompletableFuture<?>[MORE_THAN_SPARE_THREADS];
        for (int i = 0; i < all.length; i++) {
            all[i] = CompletableFuture.runAsync(() -> enter(lock, () -> { }));
        }
        return CompletableFuture.allOf(all);
    }

    /** A task that holds one lock waits for another, while its children stand in the queue of its worker. */
    private CompletableFuture<Void> parent(RLock gate) {
        RLock lock = client.getLock("pool-inner");
        Runnable pass = () -> {
            gate.lock();
            gate.unlock();
        };
        return CompletableFuture.runAsync(() -> {
            List<CompletableFuture<Void>> children = new ArrayList<>();
            for (int i = 0; i < CHILDREN; i++) {
                children.add(CompletableFuture.runAsync(() -> enter(lock, pass)));
            }
            enter(lock, pass);
            children.forEach(CompletableFuture::join);
        });
    }

    /** A task closes a lease, while its children stand in the queue of its worker and the other workers are busy with the first of them. */
    private CompletableFuture<Void> closing() {
        CountDownLatch closed = new CountDownLatch(1);
        return CompletableFuture.runAsync(() -> {
            Thread closing = Thread.currentThread();
            Lease lease = Lease.lock(client.getLock("pool-inner"));
            List<CompletableFuture<Void>> children = new ArrayList<>();
            for (int i = 0; i < MORE_THAN_WORKERS; i++) {
                children.add(CompletableFuture.runAsync(() -> {
                    if (closed.getCount() > 0 && Thread.currentThread() == closing) {
                        failed.incrementAndGet();
                    } else {
                        passed(closed);
                    }
                }));
            }
            lease.close();
            closed.countDown();
            children.forEach(CompletableFuture::join);
        });
    }

    private void enter(RLock lock, Runnable work) {
        begun.incrementAndGet();
        try {
            lock.lock();
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            work.run();
            inside.decrementAndGet();
            lock.unlock();
        } catch (RuntimeException e) {
            failed.incrementAndGet();
            throw new CompletionException(e);
        }
    }

    private void passed(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            failed.incrementAndGet();
        }
    }

    private static long workers() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().startsWith("ForkJoinPool.commonPool")).count();
    }
}

import io.redlatch.Hold;
import io.redlatch.Holds;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** An application that a class loader of its own brings: it takes locks that others take too, shuts its clients down, and is taken out. */
public final class Visitor {
    private static final int ROUNDS = 6;

    /** It is held, and referred to, when the application goes. */
    private static RLock kept;

    private final String prefix;
    private final BiFunction<String, BooleanSupplier, Runnable> enter;
    private final BiConsumer<String, Throwable> failed;

    private Visitor(String prefix, BiFunction<String, BooleanSupplier, Runnable> enter, BiConsumer<String, Throwable> failed) {
        this.prefix = prefix;
        this.enter = enter;
        this.failed = failed;
    }

    /**
     * @param enter is told of a name, and how to ask whether its hold is lost; what it returns is run at the end of the stay
     * @param failed is told of an operation and its error
     */
    public static void visit(String url, int watchdogMs, String prefix, BiFunction<String, BooleanSupplier, Runnable> enter,
            BiConsumer<String, Throwable> failed) throws InterruptedException {
        new Visitor(prefix, enter, failed).visit(url, watchdogMs);
    }

    private void visit(String url, int watchdogMs) throws InterruptedException {
        Config config = new Config().setLockWatchdogTimeout(watchdogMs);
        config.useSingleServer().setAddress(url);
        RedissonClient client;
        try {
            client = Redisson.create(config);
        } catch (RuntimeException e) {
            failed.accept("create", e);
            return;
        }
        try {
            kept = client.getMultiLock(client.getLock(prefix + "kept-" + client.getId()), client.getLock(prefix + "kept-too-" + client.getId()));
            kept.lock();
        } catch (RuntimeException e) {
            failed.accept("multi lock", e);
        }
        List<Thread> threads = new ArrayList<>();
        for (String kind : new String[] {"plain0", "plain1", "fair0"}) {
            threads.add(new Thread(() -> take(lock(client, kind), prefix + kind), "visitor"));
        }
        threads.forEach(Thread::start);
        CompletableFuture<Void> chain = chain(client.getFencedLock(prefix + "fenced0"), prefix + "fenced0");
        if (ThreadLocalRandom.current().nextBoolean()) {
            for (Thread each : threads) {
                each.join();
            }
            chain.join();
        }
        client.shutdown(); // in the midst of use, every second time
        for (Thread each : threads) {
            each.join();
        }
        chain.join();
    }

    private RLock lock(RedissonClient client, String kind) {
        return kind.startsWith("fair") ? client.getFairLock(prefix + kind) : client.getLock(prefix + kind);
    }

    private void take(RLock lock, String name) {
        for (int round = 0; round < ROUNDS; round++) {
            try {
                lock.lock();
                stay(Holds.of(lock), name);
                lock.unlock();
            } catch (RuntimeException e) {
                failed.accept("lock of " + name, e);
                return;
            }
        }
    }

    private void stay(Hold hold, String name) {
        Runnable leave = enter.apply(name, hold::isLost);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(ThreadLocalRandom.current().nextInt(10)));
        leave.run();
    }

    private CompletableFuture<Void> chain(RLock lock, String name) {
        long id = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
        return lock.lockAsync(id).thenCompose(nothing -> {
            stay(Holds.of(lock, id), name);
            return lock.unlockAsync(id);
        }).toCompletableFuture().exceptionally(e -> {
            failed.accept("chain of " + name, e);
            return null;
        });
    }
}

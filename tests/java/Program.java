import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.CommonOptions;
import org.redisson.config.Config;
import org.redisson.config.EqualJitterDelay;
import org.redisson.config.NameMapper;

/** A program written for Redisson, which says what it sees; DropInTest runs it with Redisson and with the library under test. */
public final class Program {
    private static RedissonClient client;

    private Program() {}

    /** @param arguments an address */
    public static void main(String[] arguments) throws Exception {
        client = Redisson.create(config(arguments[0]));
        blocking(client.getLock("blocking"));
        asynchronous(client.getLock("asynchronous"));
        trouble(client.getLock("trouble"));
        permits(client.getPermitExpirableSemaphore("permits"));
        say("options", () -> client.getLock(CommonOptions.name("options")).tryLock());
        say("shut down", () -> client.isShutdown() + " " + client.isShuttingDown());
        client.shutdown(0, 1, TimeUnit.SECONDS);
        say("shut down", () -> client.isShutdown() + " " + client.isShuttingDown());
        RedissonClient second = Redisson.create(config(arguments[0]));
        second.shutdownAsync().toCompletableFuture().get(30, TimeUnit.SECONDS);
        say("shut down", second::isShutdown);
    }

    private static Config config(String address) {
        Config config = new Config().setLockWatchdogTimeout(20_000).setThreads(4).setNettyThreads(4).setUseScriptCache(true)
                .setNameMapper(new NameMapper() {
                    @Override
                    public String map(String name) {
                        return "shop:" + name;
                    }

                    @Override
                    public String unmap(String name) {
                        return name.substring("shop:".length());
                    }
                });
        config.useSingleServer().setAddress(address).setDatabase(1).setClientName("shop").setConnectionPoolSize(8)
                .setConnectionMinimumIdleSize(1).setTimeout(5000).setConnectTimeout(5000).setRetryAttempts(2)
                .setRetryDelay(new EqualJitterDelay(Duration.ofMillis(100), Duration.ofMillis(200))).setPingConnectionInterval(1000);
        return config;
    }

    private static void blocking(RLock lock) throws Exception {
        say("name", lock::getName);
        say("free", () -> lock.isLocked() + " " + lock.getHoldCount() + " " + lock.remainTimeToLive() + " " + lock.forceUnlock());
        lock.lock();
        lock.lock(10, TimeUnit.SECONDS);
        say("held", () -> lock.isLocked() + " " + lock.isHeldByCurrentThread() + " " + lock.getHoldCount());
        say("by thread", () -> lock.isHeldByThread(Thread.currentThread().getId()) + " " + lock.isHeldByThread(-1));
        say("time", () -> lock.remainTimeToLive() > 5_000 && lock.remainTimeToLive() <= 20_000);
        say("elsewhere", () -> elsewhere(() -> lock.tryLock() + " " + lock.tryLock(300, TimeUnit.MILLISECONDS) + " "
                + lock.tryLock(300, 1000, TimeUnit.MILLISECONDS) + " " + lock.getHoldCount() + " " + lock.isLocked()));
        lock.unlock();
        lock.unlock();
        say("free", lock::isLocked);
        lock.lockInterruptibly();
        lock.lockInterruptibly(5, TimeUnit.SECONDS);
        say("again", () -> lock.tryLock() + " " + lock.tryLock(1, TimeUnit.SECONDS) + " " + lock.tryLock(1, 5, TimeUnit.SECONDS));
        say("count", lock::getHoldCount);
        say("forced", () -> elsewhere(lock::forceUnlock) + " " + lock.isLocked() + " " + lock.getHoldCount());
        say("short", () -> {
            lock.lock(1, TimeUnit.MILLISECONDS);
            return elsewhere(() -> client.getLock("blocking").tryLock(10, TimeUnit.SECONDS));
        });
    }

    private static void asynchronous(RLock lock) throws Exception {
        say("locks", () -> get(lock.lockAsync(7)) + " " + get(lock.lockAsync(10, TimeUnit.SECONDS, 7)) + " " + get(lock.tryLockAsync(7)));
        TimeUnit ms = TimeUnit.MILLISECONDS;
        say("tries", () -> get(lock.tryLockAsync()) + " " + get(lock.tryLockAsync(8)) + " " + get(lock.tryLockAsync(300, ms)) + " "
                + get(lock.tryLockAsync(300, 300, ms)) + " " + get(lock.tryLockAsync(300, 300, ms, 8)));
        say("looks", () -> get(lock.isLockedAsync()) + " " + get(lock.isHeldByThreadAsync(7)) + " " + get(lock.getHoldCountAsync())
                + " " + (get(lock.remainTimeToLiveAsync()) > 0));
        say("unlocks", () -> get(lock.unlockAsync(7)) + " " + get(lock.unlockAsync(7)) + " " + get(lock.unlockAsync(7)));
        say("unlocked", () -> get(lock.unlockAsync(7)));
        say("own", () -> get(lock.lockAsync()) + " " + get(lock.lockAsync(5, TimeUnit.SECONDS)) + " " + get(lock.getHoldCountAsync()) + " "
                + get(lock.unlockAsync()) + " " + get(lock.forceUnlockAsync()) + " " + get(lock.forceUnlockAsync()));
        say("chained", () -> lock.lockAsync(9).thenCompose(nothing -> lock.unlockAsync(9)).thenApply(nothing -> "done")
                .toCompletableFuture().get(30, TimeUnit.SECONDS));
    }

    private static void trouble(RLock lock) throws Exception {
        say("not held", () -> {
            lock.unlock();
            return "released";
        });
        say("conditions", lock::newCondition);
        lock.lock();
        say("another's", () -> elsewhere(() -> {
            lock.unlock();
            return "released";
        }));
        say("cancelled", () -> {
            RFuture<Void> future = lock.lockAsync(11);
            return future.cancel(true) + " " + future.isCancelled() + " " + future.isDone();
        });
        lock.unlock();
    }

    private static void permits(RPermitExpirableSemaphore semaphore) throws Exception {
        say("never set", () -> semaphore.tryAcquire() + " " + semaphore.tryAcquire(2) + " " + semaphore.availablePermits() + " "
                + semaphore.getPermits() + " " + semaphore.acquiredPermits() + " " + semaphore.tryAcquire(300, TimeUnit.MILLISECONDS));
        say("set", () -> semaphore.trySetPermits(4) + " " + semaphore.trySetPermits(5) + " " + semaphore.getPermits());
        List<String> ids = semaphore.acquire(2);
        String leased = semaphore.acquire(10, TimeUnit.SECONDS);
        say("ids", () -> ids.size() + " " + leased.matches("[0-9a-f]{32}"));
        say("out", () -> semaphore.availablePermits() + " " + semaphore.getPermits() + " " + semaphore.acquiredPermits());
        say("too many", () -> semaphore.tryAcquire(2) + " " + semaphore.tryAcquire(2, 300, 300, TimeUnit.MILLISECONDS));
        say("leases", () -> semaphore.getLeaseTime(ids.get(0)) + " " + (semaphore.getLeaseTime(leased) > 5_000) + " "
                + semaphore.updateLeaseTime(leased, -1, TimeUnit.SECONDS) + " " + semaphore.getLeaseTime(leased));
        semaphore.release(leased);
        say("twice", () -> semaphore.tryRelease(leased) + " " + semaphore.tryRelease(List.of(leased, ids.get(0))) + " "
                + semaphore.updateLeaseTime(leased, 1, TimeUnit.SECONDS));
        for (Callable<?> gone : List.<Callable<?>>of(() -> semaphore.getLeaseTime(leased), () -> get(semaphore.releaseAsync(leased)),
                () -> get(semaphore.releaseAsync(List.of(leased))), () -> semaphore.tryRelease((String) null), () -> semaphore.tryAcquire(-1),
                () -> semaphore.tryRelease(List.of()))) {
            say("gone", gone);
        }
        say("back", () -> semaphore.tryRelease(ids) + " " + semaphore.availablePermits());
        semaphore.setPermits(2);
        semaphore.addPermits(1);
        say("changed", () -> semaphore.availablePermits() + " " + semaphore.getPermits() + " " + semaphore.isExists() + " "
                + semaphore.remainTimeToLive() + " " + semaphore.delete() + " " + semaphore.delete() + " " + semaphore.isExists());
    }

    private static void say(String what, Callable<?> call) {
        String seen;
        try {
            seen = String.valueOf(call.call());
        } catch (Throwable e) {
            Throwable error = e instanceof ExecutionException ? e.getCause() : e;
            seen = error.getClass().getName();
        }
        System.out.println(what + ": " + seen.replace(client.getId(), "<id>"));
    }

    private static <V> V get(RFuture<V> future) throws Exception {
        return future.get(30, TimeUnit.SECONDS);
    }

    private static <V> V elsewhere(Callable<V> call) throws Exception {
        CompletableFuture<V> result = new CompletableFuture<>();
        new Thread(() -> {
            try {
                result.complete(call.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        }).start();
        return result.get(30, TimeUnit.SECONDS);
    }
}

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisTimeoutException;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;

/** A server that is down is told as such, and not as a lock that another owner has: a table of kinds, outages and waits. */
class OutageTest {
    private static final long[] WAITS = {0, 300, 1000};

    /** One way to try. */
    private interface Try {
        Object with(RedissonClient client, long wait) throws Exception;
    }

    private static Map<String, Try> tries() {
        Map<String, Try> tries = new TreeMap<>();
        Map<String, Function<RedissonClient, RLock>> locks = new TreeMap<>();
        LockKind.ofOneName().forEach(kind -> locks.put(kind.name(), client -> kind.of(client, "n")));
        locks.put("multi", client -> client.getMultiLock(client.getLock("n"), client.getLock("m")));
        locks.forEach((kind, lock) -> {
            tries.put(kind, (client, wait) -> lock.apply(client).tryLock(wait, MILLISECONDS));
            tries.put(kind + ", future", (client, wait) -> got(lock.apply(client).tryLockAsync(wait, MILLISECONDS)));
        });
        tries.put("semaphore", (client, wait) -> client.getSemaphore("n").tryAcquire(1, Duration.ofMillis(wait)));
        tries.put("permits", (client, wait) -> client.getPermitExpirableSemaphore("n").tryAcquire(wait, MILLISECONDS));
        tries.put("latch", (client, wait) -> client.getCountDownLatch("n").await(wait, MILLISECONDS));
        return tries;
    }

    private static Object got(RFuture<?> future) {
        try {
            return future.toCompletableFuture().join();
        } catch (CompletionException e) {
            throw (RuntimeException) e.getCause();
        }
    }

    @Test
    void a_port_where_nothing_listens_is_not_a_lock_that_is_taken() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        isTold("redis://127.0.0.1:" + port);
    }

    @Test
    void a_port_that_swallows_everything_is_not_a_lock_that_is_taken() throws Exception {
        try (ServerSocket hole = new ServerSocket(0, 200, InetAddress.getLoopbackAddress())) {
            isTold("redis://127.0.0.1:" + hole.getLocalPort());
        }
    }

    @Test
    void a_server_that_stands_still_is_not_a_lock_that_is_taken() throws Exception {
        try (TestServer still = TestServer.start()) {
            still.freeze();
            isTold(still.url());
            still.thaw();
        }
    }

    @Test
    void a_lock_of_another_owner_is_false_and_only_while_the_server_says_so() throws Exception {
        try (TestServer mortal = TestServer.start()) {
            mortal.connect().getLock("n").lock();
            RedissonClient client = Redisson.create(config(mortal.url()));
            RLock lock = client.getLock("n");
            assertFalse(lock.tryLock(1000, MILLISECONDS));
            mortal.freeze();
            assertThrows(RedisTimeoutException.class, () -> lock.tryLock(1000, MILLISECONDS));
            mortal.thaw();
        }
    }

    /** Every kind is tried at once and with each wait, each by a thread and a client of its own. */
    private static void isTold(String url) throws Exception {
        List<Worker<Void>> cells = new ArrayList<>();
        for (Map.Entry<String, Try> each : tries().entrySet()) {
            for (long wait : WAITS) {
                cells.add(Worker.start(() -> {
                    RedissonClient client = Redisson.create(config(url));
                    Throwable error = assertThrows(Throwable.class, () -> each.getValue().with(client, wait), each.getKey() + " " + wait);
                    if (!(error instanceof RedisConnectionException)) {
                        assertInstanceOf(RedisTimeoutException.class, error, each.getKey() + " " + wait);
                    }
                    assertTrue(wait == 0 || error.getMessage().contains("no answer came during the wait of"), error.getMessage());
                    client.shutdown();
                    return null;
                }));
            }
        }
        for (Worker<Void> cell : cells) {
            cell.get();
        }
    }

    private static Config config(String url) {
        Config config = new Config().setLazyInitialization(true);
        config.useSingleServer().setAddress(url).setTimeout(2000).setConnectTimeout(1000).setRetryAttempts(1)
                .setRetryDelay(new ConstantDelay(Duration.ofMillis(2000)));
        return config;
    }
}

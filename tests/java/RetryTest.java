import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.CommonOptions;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisResponseTimeoutException;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;

/** How long calls are tried: by the client's configuration, or by the options of one lock. */
class RetryTest {
    /** Far more than any bound that is set here: whoever takes so long is not bounded. */
    private static final Duration HANGS = Duration.ofSeconds(25);
    private static final int FOR_EVER = 3_600_000;

    private TestServer server;

    @BeforeEach
    void start() throws Exception {
        server = TestServer.start();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void without_retries_an_answer_may_still_take_the_whole_time_out() throws Exception {
        RedissonClient client = Redisson.create(config(20_000, 0, 1));
        RLock lock = client.getLock("slow");
        for (Callable<Boolean> call : calls(lock)) {
            server.call("CLIENT", "PAUSE", "300", "ALL");
            call.call();
        }
        server.call("CLIENT", "PAUSE", "300", "ALL");
        Redisson.create(config(20_000, 0, 1)).shutdown();
        client.shutdown();
    }

    @Test
    void without_retries_a_lock_can_still_be_waited_for() throws Exception {
        RedissonClient holder = Redisson.create(config(20_000, 0, 1));
        RedissonClient client = Redisson.create(config(20_000, 0, 1));
        holder.getLock("wanted").lock();
        Worker<Boolean> waiter = Worker.start(() -> {
            client.getLock("wanted").lock();
            return client.getLock("wanted").isHeldByCurrentThread();
        });
        waiter.awaitWaiting(server, "wanted");
        holder.getLock("wanted").unlock();
        assertTrue(waiter.get());
        holder.shutdown();
        client.shutdown();
    }

    @Test
    void a_lock_with_a_longer_time_out_waits_where_the_client_gives_up() throws Exception {
        RedissonClient client = Redisson.create(config(100, 0, 1).setLazyInitialization(true));
        CommonOptions patient = CommonOptions.name("patient").timeout(Duration.ofSeconds(20));
        List<Callable<Boolean>> usual = calls(client.getLock("usual"));
        List<Callable<Boolean>> longer = calls(client.getLock(patient));
        for (int i = 0; i < usual.size(); i++) {
            server.call("CLIENT", "PAUSE", "1000", "ALL");
            assertFailure(RedisResponseTimeoutException.class, usual.get(i));
            longer.get(i).call();
        }
        client.shutdown();
    }

    @Test
    void a_lock_with_a_shorter_time_out_and_no_retries_gives_up_where_the_client_waits() throws Exception {
        RedissonClient client = Redisson.create(config(FOR_EVER, 100, 1000));
        CommonOptions hasty = CommonOptions.name("hasty").timeout(Duration.ofMillis(100)).retryAttempts(0);
        assertFalse(client.getLock(hasty).isLocked());
        server.freeze();
        for (Callable<Boolean> call : calls(client.getLock(hasty))) {
            assertTimeoutPreemptively(HANGS, () -> assertFailure(RedisResponseTimeoutException.class, call));
        }
        server.stop();
        CommonOptions hastyAgain = CommonOptions.name("hasty-again").timeout(Duration.ofMillis(100)).retryAttempts(0);
        for (Callable<Boolean> call : calls(client.getLock(hastyAgain))) {
            assertTimeoutPreemptively(HANGS, () -> assertFailure(RedisConnectionException.class, call));
        }
        client.shutdown();
    }

    @Test
    void a_lock_with_retries_of_its_own_is_tried_until_the_server_is_back() throws Exception {
        RedissonClient client = Redisson.create(config(1000, 0, 1));
        server.stop();
        RLock retried = client.getLock(CommonOptions.name("retried").retryAttempts(100).retryDelay(attempt -> Duration.ofSeconds(1)));
        Worker<Boolean> worker = Worker.start(retried::tryLock);
        assertThrows(RedisConnectionException.class, client.getLock("usual")::tryLock);
        server.restart();
        assertTrue(worker.get());
        client.shutdown();
    }

    @Test
    void one_that_gives_up_leaves_the_others_of_its_line_waiting() throws Exception {
        RedissonClient client = Redisson.create(config(FOR_EVER, 4, 1000));
        RedissonClient holder = Redisson.create(config(FOR_EVER, 4, 1000));
        holder.getLock("shared").lock(1, SECONDS);
        RLock hasty = client.getLock(CommonOptions.name("shared").timeout(Duration.ofMillis(100)).retryAttempts(0));
        Worker<Boolean> first = Worker.start(() -> hasty.tryLock(FOR_EVER, SECONDS));
        first.awaitWaiting(server, "shared");
        RFuture<Boolean> second = client.getLock("shared").tryLockAsync(FOR_EVER, SECONDS);
        server.freeze();
        assertFailure(RedisResponseTimeoutException.class, first::get);
        assertFalse(second.isDone());
        server.thaw();
        assertTrue(second.get(20, SECONDS));
        holder.shutdown();
        client.shutdown();
    }

    @Test
    void a_server_that_does_not_answer_is_given_up_after_time_out_and_retries() throws Exception {
        RedissonClient client = Redisson.create(config(200, 1, 100));
        RLock held = client.getLock("held");
        held.lock();
        long holder = Thread.currentThread().getId();
        server.freeze();
        for (Callable<Boolean> call : calls(client.getLock("silent"))) {
            assertTimeoutPreemptively(HANGS, () -> assertFailure(RedisResponseTimeoutException.class, call));
        }
        assertTimeoutPreemptively(HANGS, () -> assertFailure(RedisResponseTimeoutException.class, () -> {
            held.unlockAsync(holder).get();
            return true;
        }));
        assertTimeoutPreemptively(HANGS, () -> assertThrows(RedisConnectionException.class, () -> Redisson.create(config(200, 0, 1))));
        server.thaw();
        Wait.until("it works again", () -> works(client));
        client.shutdown();
    }

    @Test
    void a_server_that_is_gone_is_given_up_after_the_retries() throws Exception {
        RedissonClient client = Redisson.create(config(FOR_EVER, 2, 50));
        client.getLock("before").lock();
        server.stop();
        for (Callable<Boolean> call : calls(client.getLock("gone"))) {
            assertTimeoutPreemptively(HANGS, () -> assertFailure(RedisConnectionException.class, call));
        }
        assertTimeoutPreemptively(HANGS, () -> assertThrows(RedisConnectionException.class, () -> Redisson.create(config(FOR_EVER, 0, 1))));
        server.restart();
        Wait.until("it works again", () -> works(client));
        client.shutdown();
    }

    @Test
    void a_call_is_retried_until_the_server_is_back() throws Exception {
        RedissonClient client = Redisson.create(config(1000, 100, 1000));
        client.getLock("before").lock();
        server.stop();
        List<Worker<Boolean>> workers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            RLock lock = client.getLock("retried-" + i);
            workers.add(Worker.start(i % 2 == 0 ? lock::tryLock : () -> lock.tryLockAsync().get()));
        }
        RedissonClient later = Redisson.create(config(1000, 100, 1000).setLazyInitialization(true));
        workers.add(Worker.start(later.getLock("lazy")::tryLock));
        server.restart();
        for (Worker<Boolean> worker : workers) {
            assertTrue(worker.get());
        }
        client.shutdown();
        later.shutdown();
    }

    @Test
    void a_connection_that_nobody_takes_is_given_up_after_the_connect_time_out() throws Exception {
        List<Socket> crowd = new ArrayList<>();
        try (ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            for (int i = 0; i < 4; i++) { // more than its queue takes: the system ignores whoever comes next
                Socket socket = new Socket();
                crowd.add(socket);
                Worker.start(() -> {
                    socket.connect(deaf.getLocalSocketAddress());
                    return null;
                });
            }
            Config config = config(FOR_EVER, 0, 1);
            config.useSingleServer().setAddress("redis://127.0.0.1:" + deaf.getLocalPort()).setConnectTimeout(200);
            assertTimeoutPreemptively(HANGS, () -> assertThrows(RedisConnectionException.class, () -> Redisson.create(config)));
        } finally {
            for (Socket socket : crowd) {
                socket.close();
            }
        }
    }

    @Test
    void a_wait_that_runs_out_while_the_server_is_silent_is_false_or_an_error_but_no_hang() throws Exception {
        RedissonClient client = Redisson.create(config(FOR_EVER, 4, 1000));
        RLock lock = client.getLock("waiting");
        lock.lock();
        Worker<Boolean> waiter = Worker.start(() -> lock.tryLock(2, SECONDS));
        waiter.awaitWaiting(server, "waiting");
        server.freeze();
        try {
            assertFalse(waiter.get());
        } finally {
            server.thaw();
        }
        client.shutdown();
    }

    private Config config(int timeout, int attempts, int delay) {
        Config config = new Config();
        config.useSingleServer().setAddress(server.url()).setTimeout(timeout).setConnectTimeout(20_000).setRetryAttempts(attempts)
                .setRetryDelay(new ConstantDelay(Duration.ofMillis(delay)));
        return config;
    }

    /** What goes through the caller's connection, and what goes through that of the I/O thread. */
    private static List<Callable<Boolean>> calls(RLock lock) {
        return List.of(lock::tryLock, () -> lock.tryLock(FOR_EVER, SECONDS), lock::isLocked, lock::forceUnlock,
                () -> lock.tryLockAsync(7).get(), () -> lock.isLockedAsync().get());
    }

    private static void assertFailure(Class<? extends Throwable> type, Callable<Boolean> call) {
        Throwable error = assertThrows(Exception.class, call::call);
        assertInstanceOf(type, error instanceof ExecutionException ? error.getCause() : error);
    }

    private static boolean works(RedissonClient client) {
        try {
            RLock lock = client.getLock("afterwards");
            assertTrue(lock.tryLock());
            lock.unlock();
            assertEquals(0, lock.getHoldCount());
            return true;
        } catch (RedisConnectionException | RedisResponseTimeoutException e) {
            return false;
        }
    }
}

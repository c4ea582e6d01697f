import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisResponseTimeoutException;
import org.redisson.config.Config;

/** How long calls are tried: by the client's configuration. */
class RetryTest {
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
        RedissonClient client = Redisson.create(RetriedCalls.config(server, 20_000, 0, 1));
        RLock lock = client.getLock("slow");
        for (Callable<Boolean> call : RetriedCalls.calls(lock)) {
            server.call("CLIENT", "PAUSE", "300", "ALL");
            call.call();
        }
        server.call("CLIENT", "PAUSE", "300", "ALL");
        Redisson.create(RetriedCalls.config(server, 20_000, 0, 1)).shutdown();
        client.shutdown();
    }

    @Test
    void without_retries_a_lock_can_still_be_waited_for() throws Exception {
        RedissonClient holder = Redisson.create(RetriedCalls.config(server, 20_000, 0, 1));
        RedissonClient client = Redisson.create(RetriedCalls.config(server, 20_000, 0, 1));
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
    void a_server_that_does_not_answer_is_given_up_after_time_out_and_retries() throws Exception {
        RedissonClient client = Redisson.create(RetriedCalls.config(server, 200, 1, 100));
        RLock held = client.getLock("held");
        held.lock();
        long holder = Thread.currentThread().getId();
        server.freeze();
        for (Callable<Boolean> call : RetriedCalls.calls(client.getLock("silent"))) {
            assertTimeoutPreemptively(RetriedCalls.HANGS, () -> RetriedCalls.assertFailure(RedisResponseTimeoutException.class, call));
        }
        assertTimeoutPreemptively(RetriedCalls.HANGS, () -> RetriedCalls.assertFailure(RedisResponseTimeoutException.class, () -> {
            held.unlockAsync(holder).get();
            return true;
        }));
        assertNeverConnects(RetriedCalls.config(server, 200, 0, 1));
        server.thaw();
        Wait.until("it works again", () -> works(client));
        client.shutdown();
    }

    @Test
    void a_server_that_is_gone_is_given_up_after_the_retries() throws Exception {
        RedissonClient client = Redisson.create(RetriedCalls.config(server, RetriedCalls.FOR_EVER, 2, 50));
        client.getLock("before").lock();
        server.stop();
        for (Callable<Boolean> call : RetriedCalls.calls(client.getLock("gone"))) {
            assertTimeoutPreemptively(RetriedCalls.HANGS, () -> RetriedCalls.assertFailure(RedisConnectionException.class, call));
        }
        assertNeverConnects(RetriedCalls.config(server, RetriedCalls.FOR_EVER, 0, 1));
        server.restart();
        Wait.until("it works again", () -> works(client));
        client.shutdown();
    }

    @Test
    void a_call_is_retried_until_the_server_is_back() throws Exception {
        RedissonClient client = Redisson.create(RetriedCalls.config(server, 1000, 100, 1000));
        client.getLock("before").lock();
        server.stop();
        List<Worker<Boolean>> workers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            RLock lock = client.getLock("retried-" + i);
            workers.add(Worker.start(i % 2 == 0 ? lock::tryLock : () -> lock.tryLockAsync().get()));
        }
        RedissonClient later = Redisson.create(RetriedCalls.config(server, 1000, 100, 1000).setLazyInitialization(true));
        workers.add(Worker.start(later.getLock("lazy")::tryLock));
        server.restart();
        for (Worker<Boolean> worker : workers) {
            assertTrue(worker.get());
        }
        client.shutdown();
        later.shutdown();
    }

    @Test
    void a_connection_that_no_server_takes_is_given_up_after_the_connect_time_out() throws Exception {
        List<Socket> crowd = new ArrayList<>();
        try (ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            for (int i = 0; i < 4; i++) { // more than its queue takes: the system ignores further clients
                Socket socket = new Socket();
                crowd.add(socket);
                Worker.start(() -> {
                    socket.connect(deaf.getLocalSocketAddress());
                    return null;
                });
            }
            Config config = RetriedCalls.config(server, RetriedCalls.FOR_EVER, 0, 1);
            config.useSingleServer().setAddress("redis://127.0.0.1:" + deaf.getLocalPort()).setConnectTimeout(200);
            assertNeverConnects(config);
        } finally {
            for (Socket socket : crowd) {
                socket.close();
            }
        }
    }

    @Test
    void a_wait_that_runs_out_while_the_server_is_silent_is_false_or_an_error_but_no_hang() throws Exception {
        RedissonClient client = Redisson.create(RetriedCalls.config(server, RetriedCalls.FOR_EVER, 4, 1000));
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

    private static void assertNeverConnects(Config config) {
        assertTimeoutPreemptively(RetriedCalls.HANGS, () -> assertThrows(RedisConnectionException.class, () -> Redisson.create(config)));
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

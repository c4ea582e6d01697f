import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RFuture;
import org.redisson.api.RKeys;
import org.redisson.api.RKeysReactive;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.CommonOptions;
import org.redisson.api.options.KeysOptions;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisResponseTimeoutException;

/** How long the calls of one lock are tried, where its options say something else than its client's configuration. */
class LimitsTest {
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
    void a_lock_with_a_longer_time_out_waits_where_the_client_gives_up() throws Exception {
        RedissonClient client = Redisson.create(RetriedCalls.config(server, 100, 0, 1).setLazyInitialization(true));
        CommonOptions patient = CommonOptions.name("patient").timeout(Duration.ofSeconds(20));
        List<Callable<Boolean>> usual = RetriedCalls.calls(client.getLock("usual"));
        List<Callable<Boolean>> longer = RetriedCalls.calls(client.getLock(patient));
        for (int i = 0; i < usual.size(); i++) {
            server.call("CLIENT", "PAUSE", "1000", "ALL");
            RetriedCalls.assertFailure(RedisResponseTimeoutException.class, usual.get(i));
            longer.get(i).call();
        }
        client.shutdown();
    }

    @Test
    void a_lock_with_a_shorter_time_out_and_no_retries_gives_up_where_the_client_waits() throws Exception {
        RedissonClient client = Redisson.create(RetriedCalls.config(server, RetriedCalls.FOR_EVER, 100, 1000));
        CommonOptions hasty = CommonOptions.name("hasty").timeout(Duration.ofMillis(100)).retryAttempts(0);
        assertFalse(client.getLock(hasty).isLocked());
        server.freeze();
        for (Callable<Boolean> call : RetriedCalls.calls(client.getLock(hasty))) {
            assertTimeoutPreemptively(RetriedCalls.HANGS, () -> RetriedCalls.assertFailure(RedisResponseTimeoutException.class, call));
        }
        server.stop();
        CommonOptions hastyAgain = CommonOptions.name("hasty-again").timeout(Duration.ofMillis(100)).retryAttempts(0);
        for (Callable<Boolean> call : RetriedCalls.calls(client.getLock(hastyAgain))) {
            assertTimeoutPreemptively(RetriedCalls.HANGS, () -> RetriedCalls.assertFailure(RedisConnectionException.class, call));
        }
        client.shutdown();
    }

    @Test
    void calls_about_keys_have_the_limits_of_their_options() throws Exception {
        RedissonClient client = Redisson.create(RetriedCalls.config(server, RetriedCalls.FOR_EVER, 100, 1000));
        RKeys keys = client.getKeys(KeysOptions.defaults().timeout(Duration.ofMillis(100)).retryAttempts(0));
        RKeysReactive reactive = client.reactive().getKeys(KeysOptions.defaults().timeout(Duration.ofMillis(100)).retryAttempts(0));
        assertEquals(0, keys.countExists("none") + reactive.countExists("none").block());
        server.freeze();
        List<Callable<Boolean>> calls = List.of(() -> keys.countExists("none") == 0, () -> keys.countExistsAsync("none").get() == 0,
                () -> reactive.countExists("none").block() == 0);
        for (Callable<Boolean> call : calls) {
            assertTimeoutPreemptively(RetriedCalls.HANGS, () -> RetriedCalls.assertFailure(RedisResponseTimeoutException.class, call));
        }
        server.thaw();
        assertThrows(IllegalArgumentException.class, () -> KeysOptions.defaults().timeout(Duration.ZERO));
        client.shutdown();
    }

    @Test
    void a_lock_with_retries_of_its_own_is_tried_until_the_server_is_back() throws Exception {
        RedissonClient client = Redisson.create(RetriedCalls.config(server, 1000, 0, 1));
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
        RedissonClient client = Redisson.create(RetriedCalls.config(server, RetriedCalls.FOR_EVER, 4, 1000));
        RedissonClient holder = Redisson.create(RetriedCalls.config(server, RetriedCalls.FOR_EVER, 4, 1000));
        holder.getLock("shared").lock(1, SECONDS);
        RLock hasty = client.getLock(CommonOptions.name("shared").timeout(Duration.ofMillis(100)).retryAttempts(0));
        Worker<Boolean> first = Worker.start(() -> hasty.tryLock(RetriedCalls.FOR_EVER, SECONDS));
        first.awaitWaiting(server, "shared");
        RFuture<Boolean> second = client.getLock("shared").tryLockAsync(RetriedCalls.FOR_EVER, SECONDS);
        server.freeze();
        RetriedCalls.assertFailure(RedisResponseTimeoutException.class, first::get);
        assertFalse(second.isDone());
        server.thaw();
        assertTrue(second.get(20, SECONDS));
        holder.shutdown();
        client.shutdown();
    }
}

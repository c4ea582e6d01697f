import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Options;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Shutdown that gives back what is held. */
class ShutdownTest extends LockTest {
    @Test
    void a_client_made_so_gives_back_all_holds_and_wakes_the_waiters() throws Exception {
        Config config = server.config();
        assertSame(config, Options.releaseOnShutdown(config));
        RedissonClient leaving = Redisson.create(config);
        assertTrue(leaving.getConfig().isReleaseOnShutdown());
        leaving.getLock(name).lock();
        leaving.getLock(name).lock(20, SECONDS);
        leaving.getLock(name + "-2").lockAsync(7).get(10, SECONDS);
        Worker<Boolean> waiter = Worker.start(() -> lock.tryLock(20, SECONDS));
        waiter.awaitWaiting(server, name);
        leaving.shutdown();
        assertTrue(waiter.get());
        assertEquals(0L, server.call("EXISTS", name + "-2"));
    }

    @Test
    void a_client_can_be_told_so_later() throws Exception {
        RedissonClient leaving = server.connect();
        leaving.getLock(name).lock();
        assertSame(leaving, Options.releaseOnShutdown(leaving));
        leaving.shutdownAsync().toCompletableFuture().get(20, SECONDS);
        assertFalse(lock.isLocked());
    }

    @Test
    void a_shutdown_with_a_time_returns_by_then_beside_a_server_that_hangs_and_gives_back_later() throws Exception {
        try (TestServer mortal = TestServer.start()) {
            RedissonClient leaving = Options.releaseOnShutdown(Redisson.create(RetriedCalls.config(mortal, 120_000, 4, 1000)));
            RedissonClient alike = Options.releaseOnShutdown(Redisson.create(RetriedCalls.config(mortal, 120_000, 4, 1000)));
            leaving.getLock(name).lock();
            alike.getLock(name + "-2").lock();
            mortal.freeze();
            assertTimeoutPreemptively(Duration.ofSeconds(25), () -> leaving.shutdown(0, 500, MILLISECONDS));
            assertTrue(leaving.isShutdown());
            CompletableFuture<Void> end = alike.shutdownAsync().toCompletableFuture();
            assertTrue(alike.isShuttingDown() && !end.isDone());
            alike.shutdownAsync(Duration.ZERO, Duration.ofMillis(500)).toCompletableFuture().get(25, SECONDS);
            mortal.thaw();
            end.get(25, SECONDS);
            Wait.until("both are given back", () -> mortal.call("EXISTS", name, name + "-2").equals(0L));
        }
    }

    @Test
    void every_shutdown_returns_only_once_the_client_has_ended() throws Exception {
        try (TestServer mortal = TestServer.start()) {
            RedissonClient leaving = Options.releaseOnShutdown(Redisson.create(RetriedCalls.config(mortal, 120_000, 4, 1000)));
            leaving.getLock(name).lock();
            mortal.freeze();
            CompletableFuture<Void> first = leaving.shutdownAsync().toCompletableFuture();
            Worker<Object> second = Worker.start(() -> {
                leaving.shutdown();
                return mortal.call("EXISTS", name);
            });
            Thread.sleep(300); // a call that waits for nothing returns meanwhile
            mortal.thaw();
            assertEquals(0L, second.get());
            first.get(25, SECONDS);
        }
    }

    @Test
    void a_lock_of_another_owner_is_left_alone() {
        RedissonClient leaving = Options.releaseOnShutdown(server.connect());
        leaving.getLock(name).lock();
        lock.forceUnlock();
        lock.lock();
        leaving.shutdown();
        assertTrue(lock.isHeldByCurrentThread());
    }

    @Test
    void a_server_that_is_gone_holds_the_shutdown_up_for_as_long_as_a_call() throws Exception {
        try (TestServer mortal = TestServer.start()) {
            RedissonClient leaving = Options.releaseOnShutdown(mortal.connect());
            leaving.getLock(name).lock();
            mortal.freeze();
            assertTimeoutPreemptively(Duration.ofSeconds(25), () -> leaving.shutdown());
            assertTrue(leaving.isShutdown());
        }
    }

    @Test
    void a_client_of_another_library_is_refused() {
        RedissonClient wrapped = (RedissonClient) Proxy.newProxyInstance(RedissonClient.class.getClassLoader(),
                new Class<?>[] {RedissonClient.class}, (proxy, method, arguments) -> method.invoke(client, arguments));
        assertThrows(IllegalArgumentException.class, () -> Options.releaseOnShutdown(wrapped));
    }
}

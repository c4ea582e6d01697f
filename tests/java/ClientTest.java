import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.RedissonShutdownException;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A client's configuration, its name and its end. */
class ClientTest extends LockTest {
    @Test
    void every_client_is_a_holder_of_its_own() {
        RedissonClient other = server.connect();
        assertEquals(client.getId(), UUID.fromString(client.getId()).toString());
        assertNotEquals(client.getId(), other.getId());
        lock.lock();
        assertFalse(other.getLock(name).tryLock());
        assertFalse(other.getLock(name).isHeldByCurrentThread());
        other.shutdown();
    }

    @Test
    void a_client_keeps_the_configuration_it_was_made_with() {
        Config config = server.config();
        RedissonClient made = Redisson.create(config);
        config.setLockWatchdogTimeout(1);
        made.getConfig().useSingleServer().setTimeout(1);
        assertEquals(30_000, made.getConfig().getLockWatchdogTimeout());
        assertEquals(5000, made.getConfig().useSingleServer().getTimeout());
        made.shutdown();
    }

    @Test
    void the_watchdog_timeout_is_the_lease_of_renewed_holds() {
        RedissonClient made = Redisson.create(server.config().setLockWatchdogTimeout(5_000));
        RLock renewed = made.getLock(name);
        renewed.lock();
        assertTrue(renewed.remainTimeToLive() <= 5_000);
        made.shutdown();
    }

    @Test
    void a_unix_socket_is_a_way_to_the_server() throws Exception {
        Path socket = Files.createTempDirectory("redlatch-socket").resolve("redis.sock");
        try (TestServer own = TestServer.start("--unixsocket", socket.toString())) {
            Config config = new Config();
            config.useSingleServer().setAddress("redis+uds://" + socket);
            RedissonClient made = Redisson.create(config);
            made.getLock(name).lock();
            assertEquals(1L, own.call("EXISTS", name));
            made.shutdown();
        }
    }

    @Test
    void the_client_name_and_the_database_are_those_of_the_connections() throws Exception {
        Config config = server.config();
        config.useSingleServer().setClientName("orders").setDatabase(3);
        RedissonClient made = Redisson.create(config);
        made.getLock(name).lock();
        assertTrue(String.valueOf(server.call("CLIENT", "LIST")).contains("name=orders"));
        assertEquals(0L, server.call("EXISTS", name));
        assertTrue(client.getLock(name).tryLock());
        made.shutdown();
    }

    @Test
    void a_lazy_client_connects_with_its_first_call() {
        Config config = server.config().setLazyInitialization(true);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + TestServer.freePort());
        RedissonClient lazy = Redisson.create(config);
        assertTrue(lazy.getConfig().isLazyInitialization());
        lazy.shutdown();
        config.useSingleServer().setAddress(server.url());
        lazy = Redisson.create(config);
        assertTrue(lazy.getLock(name).tryLock());
        lazy.shutdown();
    }

    @Test
    void after_shutdown_every_call_is_refused() throws Exception {
        lock.lock();
        assertFalse(client.isShutdown() || client.isShuttingDown());
        client.shutdown();
        assertTrue(client.isShutdown() && client.isShuttingDown());
        Throwable error = assertThrows(RedissonShutdownException.class, lock::unlock);
        assertEquals("this client was shut down; make another one with Redisson.create", error.getMessage());
        assertThrows(RedissonShutdownException.class, () -> client.getLock(name).lock());
        assertThrows(RedissonShutdownException.class, () -> lock.tryLock(1, SECONDS));
        assertThrows(RedissonShutdownException.class, lock::isLocked);
        ExecutionException failed = assertThrows(ExecutionException.class, () -> lock.lockAsync(7).get(10, SECONDS));
        assertInstanceOf(RedissonShutdownException.class, failed.getCause());
        client.shutdown();
        client.shutdown(0, 1, SECONDS);
        assertEquals(36, client.getId().length());
    }

    @Test
    void shutdown_ends_the_threads_and_the_futures_that_wait() throws Exception {
        RedissonClient other = server.connect();
        other.getLock(name).lock();
        Worker<Throwable> waiter = Worker.start(() -> assertThrows(RedissonShutdownException.class, lock::lock));
        waiter.awaitWaiting(server, name);
        var future = lock.lockAsync(7);
        client.shutdown();
        waiter.get();
        ExecutionException failed = assertThrows(ExecutionException.class, () -> future.get(10, SECONDS));
        assertInstanceOf(RedissonShutdownException.class, failed.getCause());
        other.shutdown();
    }

    @Test
    void shutdown_gives_nothing_back() {
        RedissonClient other = server.connect();
        other.getLock(name).lock();
        other.shutdown();
        assertTrue(lock.isLocked());
    }
}

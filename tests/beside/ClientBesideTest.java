import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Hold;
import io.redlatch.Holds;
import io.redlatch.Lease;
import io.redlatch.Locks;
import io.redlatch.LockLostException;
import io.redlatch.LostReason;
import io.redlatch.Options;
import io.redlatch.TokenLock;
import io.redlatch.beside.Beside;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.RedissonShutdownException;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** The client as a whole: the maps stay Redisson's, and the locks behave as ours. */
class ClientBesideTest extends BesideTest {
    @Test
    void everything_but_locks_is_redissons() throws Exception {
        client.getMap(name).put("a", 1);
        assertEquals(1, plain.getMap(name).get("a"));
        client.getBucket(name + "-bucket", StringCodec.INSTANCE).set("text");
        assertEquals("text", plain.getBucket(name + "-bucket", StringCodec.INSTANCE).get());
        CompletableFuture<String> heard = new CompletableFuture<>();
        RTopic topic = client.getTopic(name + "-topic");
        topic.addListener(String.class, (channel, message) -> heard.complete(message));
        plain.getTopic(name + "-topic").publish("news");
        assertEquals("news", heard.get(20, SECONDS));
        assertEquals(1, client.getKeys().countExists(name));
        assertTrue(client.createTransaction(org.redisson.api.TransactionOptions.defaults()).getMap(name).containsKey("a"));
    }

    @Test
    void the_calls_that_redisson_lacks_take_the_lock_and_the_client() throws Exception {
        lock.lock();
        CompletableFuture<LockLostException> lost = new CompletableFuture<>();
        Hold hold = Holds.of(Beside.lock(lock));
        hold.onLost(lost::complete);
        hold.ensure();
        assertTrue(Locks.of(Beside.client(client), name).iterator().hasNext());
        server.call("DEL", name);
        assertEquals(LostReason.DELETED, lost.get(20, SECONDS).reason());
        IllegalMonitorStateException late = assertThrows(IllegalMonitorStateException.class, lock::unlock);
        assertInstanceOf(LockLostException.class, late.getCause());
        try (Lease lease = Lease.lock(Beside.lock(lock))) {
            assertTrue(lock.isHeldByCurrentThread() && !lease.hold().isLost());
        }
        RLock again = client.getReadWriteLock(name).writeLock();
        try (Lease lease = Lease.lock(Beside.lock(again))) {
            assertTrue(plain.getReadWriteLock(name).writeLock().isLocked() && !lease.hold().isLost());
        }
        assertTrue(TokenLock.of(Beside.client(client), name).tryLock());
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> Beside.lock(plain.getLock(name)));
        assertTrue(refused.getMessage().contains("is no lock of Beside"), refused.getMessage());
        assertThrows(IllegalArgumentException.class, () -> Beside.client(plain));
        assertThrows(IllegalArgumentException.class, () -> Beside.of(client), "it is no client of Redisson");
    }

    @Test
    void errors_are_redissons() throws Exception {
        server.call("SET", name, "text");
        RedisException wrong = assertThrows(RedisException.class, lock::lock);
        assertEquals(RedisException.class, wrong.getClass());
        assertTrue(wrong.getStackTrace().length > 0 && wrong.getMessage().contains(name), wrong.getMessage());
        ExecutionException failed = assertThrows(ExecutionException.class, () -> lock.lockAsync().get());
        assertEquals(RedisException.class, failed.getCause().getClass());
        CompletionException joined = assertThrows(CompletionException.class, () -> lock.lockAsync().toCompletableFuture().thenRun(() -> { }).join());
        assertEquals(RedisException.class, joined.getCause().getClass());
        assertThrows(IllegalMonitorStateException.class, client.getLock(name + "-free")::unlock);
        assertThrows(UnsupportedOperationException.class, lock::newCondition);
        assertThrows(IllegalArgumentException.class, () -> client.getSemaphore(name).trySetPermits(-1));
    }

    @Test
    void a_server_that_is_gone_is_redissons_exception() throws Exception {
        try (TestServer alone = TestServer.start()) {
            Config config = alone.config();
            config.useSingleServer().setRetryAttempts(0).setTimeout(500).setConnectTimeout(500);
            RedissonClient both = Beside.of(Redisson.create(config));
            RLock held = both.getLock(name);
            held.lock();
            alone.stop();
            RedisException gone = assertThrows(RedisException.class, () -> both.getLock(name + "-other").lock());
            assertTrue(gone.getClass().getName().matches("org.redisson.client.Redis(Connection|Timeout|ResponseTimeout)Exception"), gone.toString());
            both.shutdown();
            assertThrows(RedissonShutdownException.class, held::lock);
        }
    }

    @Test
    void a_client_that_cannot_be_made_leaves_redissons_open() throws Exception {
        try (TestServer alone = TestServer.start()) {
            RedissonClient redisson = alone.connect();
            assertThrows(RedisConnectionException.class, () -> Beside.of(redisson, config -> config.useSingleServer()
                    .setAddress("redis://127.0.0.1:" + TestServer.freePort()).setConnectTimeout(200).setRetryAttempts(0)));
            assertFalse(redisson.isShutdown());
            redisson.shutdown();
        }
    }

    @Test
    void a_hold_is_renewed_by_the_watchdog_of_redissons_configuration() throws Exception {
        Config config = server.config();
        config.setLockWatchdogTimeout(900);
        RedissonClient both = Beside.of(Redisson.create(config));
        both.getLock(name).lock();
        long[] last = {(Long) server.call("PTTL", name)};
        assertTrue(last[0] > 0 && last[0] <= 900, last[0] + " ms");
        for (int renewal = 0; renewal < 2; renewal++) {
            Wait.until("the lease is renewed", () -> {
                long before = last[0];
                last[0] = (Long) server.call("PTTL", name);
                return last[0] > before;
            });
        }
        both.getLock(name).unlock();
        both.shutdown();
    }

    @Test
    void the_end_of_the_client_is_that_of_both() throws Exception {
        RedissonClient redisson = server.connect();
        RedissonClient both = Beside.of(redisson, Options::releaseOnShutdown);
        both.getLock(name).lock();
        Worker<Object> waiter = Worker.start(() -> {
            lock.lock();
            return assertThrows(RedissonShutdownException.class, both.getLock(name)::lock);
        });
        assertFalse(both.isShutdown() || both.isShuttingDown());
        both.shutdown();
        assertTrue(both.isShutdown() && both.isShuttingDown() && redisson.isShutdown() && Beside.client(both).isShutdown());
        waiter.get();
        assertEquals(1, lock.isLocked() ? 1 : 0, "the other client has what was given back");
        RedissonClient third = Beside.of(server.connect());
        third.shutdown(0, 5, SECONDS);
        assertTrue(third.isShutdown());
        for (Method each : RedissonClient.class.getMethods()) { // not in every version
            if (each.getName().equals("shutdownAsync")) {
                RedissonClient last = Beside.of(server.connect());
                Object[] times = each.getParameterCount() == 0 ? null : new Object[] {Duration.ZERO, Duration.ofSeconds(5)};
                ((CompletionStage<?>) each.invoke(last, times)).toCompletableFuture().get(20, SECONDS);
                assertTrue(last.isShutdown());
            }
        }
    }

    @Test
    void objects_are_equal_to_themselves_and_tell_their_names() {
        RLock other = client.getLock(name);
        assertEquals(lock, lock);
        assertNotEquals(lock, other);
        assertNotEquals(lock, Beside.lock(other));
        assertEquals(lock.hashCode(), lock.hashCode());
        assertEquals(name, lock.getName());
        assertTrue(lock.toString().contains("RedissonLock"), lock.toString());
        assertEquals(client, client);
        assertNotEquals(client, plain);
        assertEquals(client.hashCode(), client.hashCode());
        assertTrue(client.toString().contains("beside"), client.toString());
        RReadWriteLock two = client.getReadWriteLock(name);
        assertEquals(two, two);
        assertNotEquals(two, client.getReadWriteLock(name));
        assertEquals(two.hashCode(), two.hashCode());
        assertEquals(name, client.getSemaphore(name).getName());
    }

    @Test
    void name_mapper_database_and_password_are_those_of_redisson() throws Exception {
        try (TestServer guarded = TestServer.start("--requirepass", "se${cret}:@x")) {
            Config config = guarded.config();
            config.useSingleServer().setDatabase(3).setPassword("se${cret}:@x");
            mapNames(config.useSingleServer());
            AtomicReference<io.redlatch.redisson.config.Config> seen = new AtomicReference<>();
            RedissonClient both = Beside.of(Redisson.create(config), seen::set);
            both.getLock(name).lock();
            both.getSemaphore(name + "-permits").trySetPermits(1);
            assertEquals(name, both.getLock(name).getName());
            try (Resp resp = new Resp(guarded.port())) {
                resp.call("AUTH", "se${cret}:@x");
                resp.call("SELECT", "3");
                assertEquals(2L, resp.call("EXISTS", "app:" + name, "app:" + name + "-permits"));
            }
            assertTrue(both.getKeys().countExists(name) == 1, "Redisson maps it in the same way");
            assertEquals(5000, seen.get().useSingleServer().getTimeout());
            both.shutdown();
        }
    }

    /** The interface of name mappers has moved between versions. */
    private static void mapNames(Object servers) throws Exception {
        InvocationHandler prefix = (proxy, method, inputs) -> {
            switch (method.getName()) {
                case "map":
                    return "app:" + inputs[0];
                case "unmap":
                    return ((String) inputs[0]).substring("app:".length());
                default:
                    return method.getName().equals("toString") ? "app:" : null;
            }
        };
        for (var method : servers.getClass().getMethods()) {
            if (method.getName().equals("setNameMapper") && !method.isBridge()) {
                Class<?> type = method.getParameterTypes()[0];
                method.invoke(servers, Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, prefix));
                return;
            }
        }
        throw new AssertionError("there is no setNameMapper");
    }

    @Test
    void futures_end_as_they_are_told_and_give_their_requests_up() throws Exception {
        plain.getLock(name).lock();
        RFuture<Void> cancelled = lock.lockAsync(OTHER);
        RFuture<Void> failed = lock.lockAsync(OTHER + 1);
        RFuture<Boolean> late = lock.tryLockAsync(20, -1, SECONDS, OTHER + 2);
        awaitWaiter(name);
        assertTrue(cancelled.cancel(true) && cancelled.isCancelled());
        assertTrue(failed.toCompletableFuture().completeExceptionally(new IllegalStateException("enough")));
        assertThrows(java.util.concurrent.TimeoutException.class, () -> late.get(1, java.util.concurrent.TimeUnit.MILLISECONDS));
        assertTrue(late.toCompletableFuture().complete(false));
        assertFalse(late.get());
        assertInstanceOf(IllegalStateException.class, assertThrows(ExecutionException.class, failed::get).getCause());
        Wait.until("no client waits any more", () -> waiters(name) == 0);
        plain.getLock(name).unlock();
        assertFalse(isThere(name), "a request that was given up has the lock");
        lock.lockAsync(OTHER).toCompletableFuture().thenCompose(nothing -> lock.unlockAsync(OTHER)).toCompletableFuture().get(20, SECONDS);
        assertFalse(isThere(name));
    }

    @Test
    void a_request_that_is_cancelled_just_as_it_is_granted_leaves_nothing_held() throws Exception {
        int cancelled = 0;
        for (int round = 0; round < 300; round++) {
            lock.lockAsync(OTHER).get(20, SECONDS);
            RFuture<Void> next = lock.lockAsync(OTHER + 1);
            CyclicBarrier start = new CyclicBarrier(2);
            Worker<Boolean> worker = Worker.start(() -> {
                start.await();
                return next.cancel(false);
            });
            start.await();
            RFuture<Void> released = lock.unlockAsync(OTHER);
            cancelled += worker.get() ? 1 : 0;
            released.get(20, SECONDS);
            if (!next.isCancelled()) {
                next.get(20, SECONDS);
                lock.unlockAsync(OTHER + 1).get(20, SECONDS);
            }
            Wait.until("the lock is free", () -> !isThere(name));
        }
        assertTrue(cancelled > 0, "none was cancelled");
    }

    @Test
    void streams_of_ours_are_those_of_the_locks_own_client() {
        io.redlatch.redisson.api.RedissonClient ours = Beside.client(client);
        assertTrue(ours.reactive().getLock(name).tryLock(OTHER).block());
        assertFalse(ours.rxJava().getLock(name).tryLock(OTHER + 1).blockingGet());
        assertFalse(client.reactive().getLock(name).tryLock(OTHER).block(), "Redisson's own");
        ours.rxJava().getLock(name).unlock(OTHER).blockingAwait();
    }

    @Test
    void a_future_has_the_methods_of_its_version() throws Exception {
        RFuture<Boolean> done = lock.tryLockAsync();
        assertTrue(done.get(20, SECONDS) && done.isDone() && !done.isCancelled());
        for (Method method : RFuture.class.getDeclaredMethods()) { // 13 of Redisson 3, and none of 4
            if (method.getParameterCount() == 0) {
                Object given = method.invoke(done);
                assertTrue(method.getName().equals("cause") ? given == null : given != null, method.toString());
            }
        }
        lock.unlockAsync().get(20, SECONDS);
    }

    @Test
    void listeners_hear_of_the_key_until_they_are_removed() throws Exception {
        try (TestServer telling = TestServer.start("--notify-keyspace-events", "KEA")) {
            RedissonClient both = Beside.of(telling.connect());
            CompletableFuture<String> heard = new CompletableFuture<>();
            CompletableFuture<String> removed = new CompletableFuture<>();
            var permits = both.getSemaphore(name);
            org.redisson.api.DeletedObjectListener first = removed::complete;
            org.redisson.api.DeletedObjectListener second = heard::complete;
            permits.trySetPermits(1);
            int id = permits.addListener(first);
            int other = permits.addListener(second);
            assertNotEquals(id, other);
            permits.removeListener(id);
            permits.delete();
            assertEquals(name, heard.get(20, SECONDS));
            assertFalse(removed.isDone());
            permits.removeListenerAsync(other).get();
            // In every version a lock of Redisson is such an object.
            CompletableFuture<String> ofLock = new CompletableFuture<>();
            RLock listened = both.getLock(name);
            org.redisson.api.DeletedObjectListener third = ofLock::complete;
            int last = ((org.redisson.api.RObject) listened).addListener(third);
            listened.lock();
            listened.unlock();
            assertEquals(name, ofLock.get(20, SECONDS));
            ((org.redisson.api.RObject) listened).removeListener(last);
            both.shutdown();
        }
    }
}

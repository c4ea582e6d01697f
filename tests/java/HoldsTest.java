import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Hold;
import io.redlatch.Holds;
import io.redlatch.Lease;
import io.redlatch.LockLostException;
import io.redlatch.LostReason;
import io.redlatch.internal.Answer;
import io.redlatch.internal.Core;
import io.redlatch.internal.KnownHold;
import io.redlatch.internal.Request;
import java.io.File;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.RedissonShutdownException;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** The holder's view of its hold, and the news that it gets. */
class HoldsTest extends LockTest {
    @Test
    void a_holder_is_told_when_an_operator_deletes_the_key() throws Exception {
        lock.lock();
        Hold hold = Holds.of(lock);
        assertFalse(hold.isLost());
        assertEquals(Optional.empty(), hold.reason());
        hold.ensure();
        server.call("DEL", name);
        LockLostException loss = hold.lost().get(5, SECONDS); // a renewal would find out later
        assertEquals(LostReason.DELETED, loss.reason());
        assertTrue(loss.getMessage().contains("`" + name + "` is lost") && loss.getMessage().contains(loss.reason().toString()),
                loss.getMessage());
        assertTrue(hold.isLost());
        assertEquals(Optional.of(LostReason.DELETED), hold.reason());
        assertEquals(LostReason.DELETED, assertThrows(LockLostException.class, hold::ensure).reason());
        assertEquals(Duration.ZERO, hold.remaining());
    }

    @Test
    void a_hold_of_a_fenced_lock_knows_its_token() throws Exception {
        assertEquals(OptionalLong.empty(), Lease.lock(lock).hold().token());
        RFencedLock fenced = client.getFencedLock(name + ":fenced");
        long first = fenced.lockAndGetToken();
        Hold hold = Holds.of(fenced);
        assertEquals(OptionalLong.of(first), hold.token());
        fenced.unlock();
        assertEquals(OptionalLong.of(first), hold.token(), "it was so");
        fenced.lock(20, SECONDS);
        assertEquals(OptionalLong.of(first + 1), Holds.of(fenced).token());
        server.call("DEL", name + ":fenced");
        Wait.until("it is lost", () -> Holds.of(fenced).isLost());
        assertEquals(OptionalLong.of(first + 1), Holds.of(fenced).token(), "also of one that is lost");
    }

    @Test
    void a_holder_is_told_when_another_owner_has_the_lock() throws Exception {
        lock.lock(20, SECONDS);
        Hold hold = Holds.of(lock);
        server.call("EVAL", "redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], 'another:1', 1)", "1", name);
        assertEquals(LostReason.TAKEN_OVER, hold.lost().get(5, SECONDS).reason());
    }

    @Test
    void a_holder_is_told_when_the_lease_runs_out_while_the_server_stands_still() throws Exception {
        try (TestServer still = TestServer.start()) {
            RedissonClient leased = Redisson.create(still.config());
            RedissonClient renewed = Redisson.create(still.config().setLockWatchdogTimeout(900));
            leased.getLock("leased").lock(900, MILLISECONDS);
            renewed.getLock("renewed").lock();
            Hold ofLease = Holds.of(leased.getLock("leased"));
            Hold ofWatchdog = Holds.of(renewed.getLock("renewed"));
            still.freeze();
            assertEquals(LostReason.EXPIRED, ofLease.lost().get(20, SECONDS).reason());
            assertEquals(LostReason.PARTITIONED, ofWatchdog.lost().get(20, SECONDS).reason());
            leased.shutdown();
            renewed.shutdown();
        }
    }

    @Test
    void after_a_release_nothing_is_told() throws Exception {
        lock.lock();
        Hold hold = Holds.of(lock);
        CompletableFuture<LockLostException> lost = hold.lost();
        CompletableFuture<LockLostException> told = new CompletableFuture<>();
        hold.onLost(told::complete);
        lock.unlock();
        RLock later = client.getLock(name + "-later");
        later.lock();
        Hold ofLater = Holds.of(later);
        server.call("DEL", name + "-later");
        ofLater.lost().get(5, SECONDS);
        assertFalse(lost.isDone() || told.isDone() || hold.isLost());
        assertTrue(assertThrows(IllegalMonitorStateException.class, hold::ensure).getMessage().contains("was released"));
        assertEquals(Duration.ZERO, hold.remaining());
    }

    @Test
    void an_unlock_that_finds_the_loss_and_the_hold_say_the_same() throws Exception {
        for (int round = 0; round < 100; round++) {
            lock.lock();
            Hold hold = Holds.of(lock);
            server.call("DEL", name);
            Throwable cause = assertThrows(IllegalMonitorStateException.class, lock::unlock).getCause();
            assertEquals(LostReason.DELETED, assertInstanceOf(LockLostException.class, cause).reason());
            assertTrue(hold.isLost(), "round " + round);
            assertEquals(LostReason.DELETED, hold.lost().get(5, SECONDS).reason());
        }
    }

    @Test
    void an_unlock_of_several_locks_that_finds_the_loss_and_the_hold_say_the_same() throws Exception {
        for (int round = 0; round < 20; round++) {
            for (RLock several : several()) {
                several.lock();
                Hold hold = Holds.of(several);
                server.call("DEL", name, name + "-b", name + "-c");
                Throwable cause = assertThrows(IllegalMonitorStateException.class, several::unlock, several + " in round " + round).getCause();
                assertEquals(LostReason.DELETED, assertInstanceOf(LockLostException.class, cause).reason());
                assertTrue(hold.isLost(), several + " in round " + round);
                assertEquals(LostReason.DELETED, hold.lost().get(20, SECONDS).reason());
            }
        }
    }

    @Test
    void a_hold_of_several_locks_whose_lease_ends_during_its_unlock_is_lost() throws Exception {
        try (TestServer still = TestServer.start()) {
            RedissonClient other = still.connect();
            RLock both = other.getMultiLock(other.getLock("a"), other.getLock("b"));
            both.lock(500, MILLISECONDS);
            Hold hold = Holds.of(both);
            still.freeze();
            CompletableFuture<Void> unlock = both.unlockAsync().toCompletableFuture();
            Instant end = Instant.now().plusMillis(500);
            Wait.until("the lease has ended", () -> Instant.now().isAfter(end));
            still.thaw();
            Throwable error = assertThrows(ExecutionException.class, () -> unlock.get(20, SECONDS)).getCause();
            assertEquals(LostReason.EXPIRED, assertInstanceOf(LockLostException.class, error.getCause()).reason());
            assertTrue(hold.isLost());
            assertEquals(LostReason.EXPIRED, hold.lost().get(20, SECONDS).reason());
            other.shutdown();
        }
    }

    @SuppressWarnings("deprecation")
    private RLock[] several() {
        RLock[] members = {client.getLock(name), client.getLock(name + "-b"), client.getLock(name + "-c")};
        return new RLock[] {client.getMultiLock(members), client.getRedLock(members), client.getMultiLock(name, List.of("x", "y"))};
    }

    @Test
    void each_of_several_holds_is_told() throws Exception {
        lock.lock();
        Hold outer = Holds.of(lock);
        lock.lock();
        Hold inner = Holds.of(lock);
        assertNotSame(outer, inner);
        server.call("DEL", name);
        assertEquals(LostReason.DELETED, outer.lost().get(5, SECONDS).reason());
        assertEquals(LostReason.DELETED, inner.lost().get(5, SECONDS).reason());
    }

    @Test
    void an_inner_release_ends_the_inner_hold_alone() {
        lock.lock();
        Hold outer = Holds.of(lock);
        assertSame(outer, Holds.of(client.getLock(name)), "one hold is one object, however often it is asked for");
        lock.lock();
        Hold inner = Holds.of(lock);
        lock.unlock();
        assertThrows(IllegalMonitorStateException.class, inner::ensure);
        outer.ensure();
        assertSame(outer, Holds.of(lock));
    }

    @Test
    void a_hold_that_is_lost_can_still_be_asked_for_until_its_unlock() throws Exception {
        lock.lock(50, MILLISECONDS);
        Wait.until("the lease ran out", () -> !lock.isLocked());
        Hold hold = Holds.of(lock);
        assertEquals(LostReason.EXPIRED, hold.lost().get(5, SECONDS).reason());
        CompletableFuture<LockLostException> late = new CompletableFuture<>();
        hold.onLost(late::complete);
        assertEquals(LostReason.EXPIRED, late.get(5, SECONDS).reason());
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
        assertThrows(IllegalMonitorStateException.class, () -> Holds.of(lock));
    }

    @Test
    void listeners_run_apart_and_one_that_throws_or_blocks_harms_no_other() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CompletableFuture<String> thread = new CompletableFuture<>();
        lock.lock();
        Hold hold = Holds.of(lock);
        hold.onLost(loss -> {
            throw new IllegalStateException("a listener that fails, which is to be printed");
        });
        hold.onLost(loss -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        hold.onLost(loss -> thread.complete(Thread.currentThread().getName()));
        assertTrue(hold.lost().cancel(true) && hold.lost().complete(null), "a copy is the caller's own");
        server.call("DEL", name);
        assertNotEquals("redlatch-completions", thread.get(5, SECONDS));
        assertTrue(client.getLock(name + "-other").tryLockAsync(7).get(5, SECONDS));
        end.countDown();
    }

    @Test
    void the_remaining_time_is_that_of_the_lease() {
        lock.lock(20, SECONDS);
        Hold hold = Holds.of(lock);
        assertTrue(hold.remaining().compareTo(Duration.ofSeconds(20)) < 0 && hold.remaining().compareTo(Duration.ofSeconds(10)) > 0);
        assertTrue(hold.deadline().isAfter(Instant.now()) && hold.deadline().isBefore(Instant.now().plusSeconds(20)));
    }

    @Test
    void a_thread_id_names_the_holder() throws Exception {
        lock.lockAsync(7).get(10, SECONDS);
        Hold hold = Holds.of(lock, 7);
        Throwable error = assertThrows(IllegalMonitorStateException.class, () -> Holds.of(lock));
        assertTrue(error.getMessage().contains("`" + name + "` is not held by " + client.getId()), error.getMessage());
        lock.unlockAsync(7).get(10, SECONDS);
        assertThrows(IllegalMonitorStateException.class, hold::ensure);
    }

    @Test
    void a_lock_of_another_library_is_refused() {
        RLock wrapped = (RLock) Proxy.newProxyInstance(RLock.class.getClassLoader(), new Class<?>[] {RLock.class},
                (proxy, method, arguments) -> method.invoke(lock, arguments));
        assertThrows(IllegalArgumentException.class, () -> Holds.of(wrapped));
    }

    @Test
    void shutdown_loses_what_is_held() throws Exception {
        RedissonClient other = server.connect();
        RLock held = other.getLock(name);
        held.lock();
        Hold hold = Holds.of(held);
        other.shutdown();
        assertEquals(LostReason.CLOSED, hold.lost().get(5, SECONDS).reason());
        assertTrue(hold.isLost());
        assertThrows(RedissonShutdownException.class, () -> Holds.of(held));
    }

    @Test
    void a_hold_that_is_asked_for_while_its_client_is_shut_down_is_lost() throws Exception {
        Core core = Core.connect(server.url(), Map.of(), null);
        byte[] key = name.getBytes(UTF_8);
        assertTrue(core.run(Request.acquire("plain", key, 1, 0, 0)).done());
        Answer found = core.look("plain", key, 1, 0);
        core.close(true);
        KnownHold hold = core.hold("plain", key, 1, found, name);
        assertEquals(Answer.LOST, hold.now().status());
        LockLostException loss = hold.lost().get(5, SECONDS);
        assertEquals(LostReason.CLOSED, loss.reason());
        assertTrue(loss.getMessage().contains("`" + name + "` is lost: its client was shut down"), loss.getMessage());
    }

    @Test
    void a_loss_is_logged_once_and_the_end_of_a_client_is_not(@TempDir Path directory) throws Exception {
        Path log = directory.resolve("log");
        Child child = new Child().option("-Dorg.slf4j.simpleLogger.logFile=" + log);
        for (String path : System.getProperty("logging.classpath").split(File.pathSeparator)) {
            child.behind(path);
        }
        String output = child.run(LoseOnce.class, server.url(), String.valueOf(server.port()), log.toString());
        assertTrue(output.endsWith("shut down\nended by itself"), output);
        List<String> lines = Files.readAllLines(log);
        lines.removeIf(line -> line.contains("INFO org.redisson - redlatch ")); // the start of the client
        assertEquals(1, lines.size(), lines.toString());
        assertTrue(lines.get(0).contains("WARN org.redisson.lost - `lost-once` is lost to ") && lines.get(0).contains("deleted"), lines.get(0));
    }
}

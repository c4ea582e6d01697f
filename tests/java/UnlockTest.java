import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.LockLostException;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Releases of locks that are not held, that are lost, and that are taken away. */
class UnlockTest extends LockTest {
    @Test
    void unlock_without_a_hold_names_the_thread_and_the_lock() {
        Throwable error = assertThrows(IllegalMonitorStateException.class, lock::unlock);
        assertEquals(words(client, Thread.currentThread().getId(), name), error.getMessage());
        assertNull(error.getCause());
    }

    @Test
    void unlock_by_another_thread_is_refused_and_changes_nothing() throws Exception {
        lock.lock();
        Throwable error = Worker.elsewhere(() -> assertThrows(IllegalMonitorStateException.class, lock::unlock));
        assertTrue(error.getMessage().contains("does not hold the lock `" + name + "`"), error.getMessage());
        assertEquals(1, lock.getHoldCount());
    }

    @Test
    void unlock_by_another_client_is_refused_and_changes_nothing() {
        RedissonClient other = server.connect();
        lock.lock();
        assertThrows(IllegalMonitorStateException.class, other.getLock(name)::unlock);
        assertEquals(1, lock.getHoldCount());
        other.shutdown();
    }

    @Test
    void unlock_of_a_hold_whose_key_was_deleted_names_the_loss() throws Exception {
        lock.lock();
        server.call("DEL", name);
        assertLost();
        assertNull(assertThrows(IllegalMonitorStateException.class, lock::unlock).getCause());
    }

    @Test
    void unlock_of_a_hold_whose_lease_ran_out_names_the_loss() throws Exception {
        lock.lock(50, MILLISECONDS);
        Wait.until("the lease ran out", () -> !lock.isLocked());
        assertLost();
    }

    @Test
    void unlock_of_a_fair_lock_that_is_free_returns_as_in_redisson() throws Exception {
        for (RLock fair : List.of(client.getFairLock(name), client.getNonReentrantFairLock(name + "-once"))) {
            fair.unlock();
            fair.unlockAsync().get();
            fair.lock(50, MILLISECONDS);
            Wait.until("the lease ran out", () -> !fair.isLocked());
            fair.unlock();
            fair.lock(50, MILLISECONDS);
            Wait.until("the lease ran out", () -> !fair.isLocked());
            fair.unlockAsync().get();
            fair.lockAsync(7).get();
            assertThrows(IllegalMonitorStateException.class, fair::unlock);
            Throwable error = assertThrows(ExecutionException.class, fair.unlockAsync()::get).getCause();
            assertInstanceOf(IllegalMonitorStateException.class, error);
            fair.unlockAsync(7).get();
            assertFalse(fair.isLocked());
        }
    }

    @Test
    void unlock_of_a_fair_lock_that_is_free_warns(@TempDir Path directory) throws Exception {
        Path log = directory.resolve("log");
        Child child = new Child().option("-Dorg.slf4j.simpleLogger.logFile=" + log);
        for (String path : System.getProperty("logging.classpath").split(File.pathSeparator)) {
            child.behind(path);
        }
        String output = child.run(UnlockFree.class, server.url(), name);
        assertTrue(output.endsWith("unlocked\nended by itself"), output);
        List<String> lines = Files.readAllLines(log);
        lines.removeIf(line -> line.contains("INFO org.redisson - redlatch ")); // the start of the client
        assertEquals(1, lines.size(), lines.toString());
        assertTrue(lines.get(0).matches(".*WARN org[.]redisson[.]release - thread \\d+ of client .*`" + name + "`.*"), lines.get(0));
    }

    @Test
    void unlock_of_a_lock_that_another_owner_has_now_leaves_it_to_that_owner() throws Exception {
        RedissonClient other = server.connect();
        lock.lock();
        assertTrue(other.getLock(name).forceUnlock());
        other.getLock(name).lock();
        assertLost();
        assertTrue(other.getLock(name).isHeldByCurrentThread());
        other.shutdown();
    }

    @Test
    void forceUnlock_frees_the_lock_with_all_holds_and_wakes_a_waiter() throws Exception {
        lock.lock();
        lock.lock();
        Worker<Boolean> waiter = Worker.start(() -> {
            lock.lock();
            return lock.isHeldByCurrentThread();
        });
        waiter.awaitWaiting(server, name);
        assertTrue(Worker.elsewhere(() -> lock.forceUnlock()));
        assertTrue(waiter.get());
    }

    @Test
    void forceUnlock_of_a_free_lock_is_false() {
        assertFalse(lock.forceUnlock());
    }

    private void assertLost() {
        Throwable error = assertThrows(IllegalMonitorStateException.class, lock::unlock);
        assertEquals(words(client, Thread.currentThread().getId(), name), error.getMessage());
        Throwable cause = assertInstanceOf(LockLostException.class, error.getCause());
        assertTrue(cause.getMessage().contains("`" + name + "`"), cause.getMessage());
    }

    static String words(RedissonClient client, long threadId, String lock) {
        return "thread " + threadId + " of client " + client.getId() + " does not hold the lock `" + lock
                + "`; let the thread that acquired it release it, once, before its lease ends";
    }
}

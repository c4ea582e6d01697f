import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.LostReason;
import io.redlatch.Redlatch;
import io.redlatch.Stats;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.RedissonShutdownException;
import org.redisson.api.RedissonClient;

/** The figures of a client. */
class StatsTest extends LockTest {
    private List<Long> counts() {
        Stats stats = Stats.of(client);
        return List.of(stats.held(), stats.waiting(), stats.acquired(), stats.notAcquired(), stats.failed(), stats.cancelled(), stats.released(),
                stats.renewalsFailed());
    }

    @Test
    void acquires_and_releases_are_counted() throws Exception {
        assertEquals(List.of(0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L), counts());
        lock.lock();
        lock.lock();
        assertFalse(Worker.elsewhere(() -> client.getLock(name).tryLock(20, TimeUnit.MILLISECONDS)));
        Worker<Boolean> waiter = Worker.start(() -> {
            boolean taken = client.getLock(name).tryLock(20, TimeUnit.SECONDS);
            client.getLock(name).unlock();
            return taken;
        });
        Wait.until("a thread waits", () -> Stats.of(client).waiting() == 1);
        assertEquals(List.of(2L, 1L, 2L, 1L, 0L, 0L, 0L, 0L), counts());
        lock.unlock();
        lock.unlock();
        assertTrue(waiter.get());
        assertEquals(List.of(0L, 0L, 3L, 1L, 0L, 0L, 3L, 0L), counts());
        Stats stats = Stats.of(client);
        assertTrue(stats.waited().compareTo(Duration.ofMillis(20)) >= 0 && stats.heldFor().compareTo(Duration.ZERO) > 0, stats.toString());
        assertTrue(stats.lost().values().stream().allMatch(count -> count == 0), stats.toString());
    }

    @Test
    void a_wait_that_an_interrupt_ends_is_cancelled() throws Exception {
        lock.lock();
        Thread thread = new Thread(() -> assertThrows(InterruptedException.class, () -> client.getLock(name).lockInterruptibly()));
        thread.start();
        Wait.until("a thread waits", () -> Stats.of(client).waiting() == 1);
        thread.interrupt();
        thread.join();
        Wait.until("the wait is over", () -> counts().equals(List.of(1L, 0L, 1L, 0L, 0L, 1L, 0L, 0L)));
        lock.unlock();
    }

    @Test
    void a_loss_is_counted_under_its_reason() throws Exception {
        lock.lock();
        server.call("DEL", name);
        Wait.until("the loss is known", () -> Stats.of(client).held() == 0);
        for (LostReason reason : LostReason.values()) {
            assertEquals(reason == LostReason.DELETED ? 1 : 0, Stats.of(client).lost().get(reason), reason.toString());
        }
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
        assertEquals(0, Stats.of(client).released());
    }

    @Test
    void other_systems_count_alike_and_a_client_that_was_shut_down_tells_nothing() throws Exception {
        RedissonClient sql = Redlatch.connect(TestMariadb.shared().url());
        sql.getLock(name).lock();
        sql.getLock(name).unlock();
        assertEquals(List.of(1L, 1L), List.of(Stats.of(sql).acquired(), Stats.of(sql).released()));
        sql.shutdown();
        assertThrows(RedissonShutdownException.class, () -> Stats.of(sql));
        RedissonClient other = (RedissonClient) Proxy.newProxyInstance(StatsTest.class.getClassLoader(), new Class<?>[] {RedissonClient.class},
                (proxy, method, arguments) -> "another client");
        assertThrows(IllegalArgumentException.class, () -> Stats.of(other));
    }
}

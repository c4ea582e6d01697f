import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Hold;
import io.redlatch.Holds;
import io.redlatch.LostReason;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.RedissonMultiLock;
import org.redisson.RedissonRedLock;
import org.redisson.RedissonShutdownException;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** One lock of several, on three servers. */
@SuppressWarnings("deprecation")
class MultiLockTest {
    private final TestServer[] servers = new TestServer[3];
    private final RedissonClient[] clients = new RedissonClient[3];
    private final RLock[] locks = new RLock[3];

    @BeforeEach
    void start() throws Exception {
        for (int i = 0; i < 3; i++) {
            servers[i] = TestServer.start();
            clients[i] = servers[i].connect();
            locks[i] = clients[i].getLock("lock");
        }
    }

    @AfterEach
    void stop() {
        for (int i = 0; i < 3; i++) {
            clients[i].shutdown();
            servers[i].close();
        }
    }

    @Test
    void a_lock_that_is_given_twice_is_one_lock() throws Exception {
        RLock same = clients[0].getLock("lock");
        RLock transfer = clients[0].getMultiLock(locks[0], same, locks[1], locks[0]);
        transfer.lock();
        assertTrue(locks[0].isHeldByCurrentThread() && locks[1].isHeldByCurrentThread());
        assertEquals(1, locks[0].getHoldCount());
        assertFalse(Worker.elsewhere(() -> same.tryLock()));
        assertTrue(transfer.tryLock());
        transfer.unlock();
        transfer.unlock();
        assertFalse(locks[0].isLocked() || locks[1].isLocked());
        assertTrue(clients[0].getMultiLock(same, same).tryLock());
    }

    @Test
    void a_lease_shorter_than_a_round_trip_is_taken_and_over_as_of_one_lock() throws Exception {
        RLock all = new RedissonMultiLock(locks);
        Worker<?> holder = Worker.start(() -> {
            all.lock(500, MICROSECONDS);
            return assertThrows(IllegalMonitorStateException.class, all::unlock);
        });
        holder.get();
        assertTrue(Worker.elsewhere(() -> all.tryLock(20_000_000, 1, MICROSECONDS)));
        Wait.until("the lease is over", () -> !locks[0].isLocked() && !locks[1].isLocked() && !locks[2].isLocked());
    }

    @Test
    void it_takes_all_of_its_locks_or_none_and_any_object_releases_it() throws Exception {
        RLock all = new RedissonMultiLock(locks);
        all.lock();
        for (RLock lock : locks) {
            assertTrue(lock.isHeldByCurrentThread());
        }
        assertTrue(all.isHeldByCurrentThread() && all.isLocked());
        clients[1].getMultiLock(locks[2], locks[0], locks[1]).unlock();
        for (RLock lock : locks) {
            assertFalse(lock.isLocked());
        }
        assertThrows(IllegalMonitorStateException.class, all::unlock);
        CompletableFuture.runAsync(locks[1]::lock).get(10, SECONDS);
        assertFalse(all.tryLock());
        assertFalse(all.tryLock(50, MILLISECONDS));
        assertFalse(locks[0].isLocked() || locks[2].isLocked());
    }

    @Test
    void a_lease_counts_from_when_it_has_all_of_them() throws Exception {
        CompletableFuture.runAsync(() -> locks[2].lock(500, MILLISECONDS)).get(10, SECONDS);
        RLock all = new RedissonMultiLock(locks);
        assertTrue(all.tryLock(20, 5, SECONDS));
        for (RLock lock : locks) {
            long left = lock.remainTimeToLive();
            assertTrue(left > 3_000 && left <= 5_000, left + " ms");
        }
        all.unlock();
    }

    @Test
    void its_holder_is_told_when_one_lock_is_lost() throws Exception {
        RLock all = new RedissonMultiLock(locks);
        all.lock();
        Hold hold = Holds.of(all);
        hold.ensure();
        assertTrue(locks[1].forceUnlock());
        assertEquals(LostReason.DELETED, hold.lost().get(20, SECONDS).reason());
        assertInstanceOf(io.redlatch.LockLostException.class, assertThrows(IllegalMonitorStateException.class, all::unlock).getCause());
        assertFalse(locks[0].isLocked() || locks[2].isLocked());
    }

    @Test
    void a_majority_is_enough_for_a_red_lock() throws Exception {
        RLock most = clients[0].getRedLock(locks);
        servers[1].close();
        assertTrue(most.tryLock(20, SECONDS));
        assertTrue(locks[0].isLocked() && locks[2].isLocked());
        most.unlock();
        assertFalse(locks[0].isLocked() || locks[2].isLocked());
        assertInstanceOf(RedissonRedLock.class, most);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void a_client_that_was_shut_down_is_a_missing_vote_of_a_red_lock(int gone) throws Exception {
        RLock before = new RedissonRedLock(locks);
        clients[gone].shutdown();
        RLock most = new RedissonRedLock(locks);
        assertTrue(before.tryLock() && most.tryLock());
        before.unlock();
        assertTrue(most.isLocked() && most.isHeldByCurrentThread());
        for (int i = 0; i < 3; i++) {
            if (i != gone) {
                assertEquals(1L, servers[i].call("HLEN", "lock"));
            }
        }
        assertFalse(Worker.elsewhere(() -> new RedissonRedLock(locks).tryLock()));
        new RedissonRedLock(locks).unlock();
        for (TestServer server : servers) {
            assertEquals(0L, server.call("EXISTS", "lock"));
        }
    }

    @Test
    void a_red_lock_whose_clients_were_shut_down_but_a_minority_cannot_be_had_and_says_why() {
        clients[0].shutdown();
        clients[2].shutdown();
        RLock most = new RedissonRedLock(locks);
        assertThrows(RedissonShutdownException.class, most::tryLock);
        assertThrows(RedissonShutdownException.class, most::lock);
        clients[1].shutdown();
        assertThrows(RedissonShutdownException.class, () -> new RedissonRedLock(locks));
    }

    @Test
    void an_interrupt_ends_the_wait_with_nothing_held() throws Exception {
        RLock first = clients[0].getLock("a");
        RLock last = clients[0].getLock("b");
        last.lock();
        RLock both = clients[0].getMultiLock(last, first);
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        Thread waiter = new Thread(() -> {
            try {
                both.lockInterruptibly();
                ended.complete(null);
            } catch (InterruptedException e) {
                ended.complete(e);
            }
        });
        waiter.start();
        Wait.until("the first lock is taken", first::isLocked);
        waiter.interrupt();
        assertInstanceOf(InterruptedException.class, ended.get(10, SECONDS));
        Wait.until("the first lock is given back", () -> !first.isLocked());
        last.unlock();
        assertFalse(both.isLocked() || last.isLocked());
    }

    @Test
    void locks_that_make_no_group_are_errors_that_say_why() {
        assertEquals("a multi lock of no locks; give it at least one", assertThrows(IllegalArgumentException.class, RedissonMultiLock::new).getMessage());
        IllegalArgumentException twice = assertThrows(IllegalArgumentException.class, () -> new RedissonRedLock(locks[0], locks[0]));
        assertTrue(twice.getMessage().contains("twice"), twice.getMessage());
        RLock wrapper = (RLock) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {RLock.class}, (p, m, a) -> null);
        assertThrows(IllegalArgumentException.class, () -> new RedissonMultiLock(wrapper));
        clients[0].shutdown();
        assertThrows(RedissonShutdownException.class, () -> new RedissonMultiLock(locks));
    }
}

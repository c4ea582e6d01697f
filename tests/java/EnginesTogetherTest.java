import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Hold;
import io.redlatch.Holds;
import io.redlatch.LostReason;
import io.redlatch.Redlatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** One lock of several, in Redis and in MariaDB. */
class EnginesTogetherTest extends MariadbTest {
    private TestServer redis;
    private RedissonClient cache;

    @BeforeEach
    void connectToRedis() throws Exception {
        redis = TestServer.shared();
        cache = redis.connect();
    }

    @AfterEach
    void no_key_is_left_in_redis() throws Exception {
        assertEquals(0L, redis.call("EXISTS", name));
        cache.shutdown();
    }

    @Test
    void a_multi_lock_of_redis_and_mariadb_excludes_the_clients_of_both() throws Exception {
        for (RedissonClient maker : new RedissonClient[] {client, cache}) {
            RLock both = maker.getMultiLock(client.getLock(name), cache.getLock(name));
            both.lock();
            assertTrue(both.isHeldByCurrentThread());
            assertNotNull(sql.holder(name));
            assertEquals(1L, redis.call("EXISTS", name));
            RedissonClient other = another("");
            assertFalse(other.getLock(name).tryLock());
            assertFalse(Worker.elsewhere(() -> cache.getLock(name).tryLock()));
            Worker<Boolean> waiter = Worker.start(() -> {
                RLock othersBoth = cache.getMultiLock(cache.getLock(name), other.getLock(name));
                boolean has = othersBoth.tryLock(20, SECONDS);
                othersBoth.unlock();
                return has;
            });
            both.unlock();
            assertTrue(waiter.get());
        }
    }

    @Test
    void a_multi_lock_takes_nothing_while_one_of_its_locks_is_taken() throws Exception {
        RLock both = client.getMultiLock(client.getLock(name), cache.getLock(name));
        assertTrue(sql.lock(name, 0));
        assertFalse(both.tryLock(100, MILLISECONDS));
        assertEquals(0L, redis.call("EXISTS", name));
        assertTrue(sql.unlock(name));
        Worker.elsewhere(() -> {
            cache.getLock(name).lock();
            return null;
        });
        assertFalse(both.tryLock(100, MILLISECONDS));
        Wait.until("MariaDB's is given back", () -> sql.holder(name) == null);
        cache.getLock(name).forceUnlock();
    }

    @Test
    void a_multi_lock_is_lost_with_either_of_its_locks() throws Exception {
        RLock both = client.getMultiLock(client.getLock(name), cache.getLock(name));
        both.lock();
        Hold hold = Holds.of(both);
        sql.ask("KILL " + sql.holder(name));
        assertEquals(LostReason.SESSION_ENDED, hold.lost().get(5, SECONDS).reason());
        assertThrows(IllegalMonitorStateException.class, both::unlock);
        Wait.until("the lock of Redis has gone back", () -> redis.call("EXISTS", name).equals(0L));
        assertTrue(both.tryLock(20, SECONDS));
        Hold second = Holds.of(both);
        redis.call("DEL", name);
        assertEquals(LostReason.DELETED, second.lost().get(5, SECONDS).reason());
        assertThrows(IllegalMonitorStateException.class, both::unlock);
        Wait.until("the lock of MariaDB has gone back", () -> sql.holder(name) == null);
    }

    @Test
    @SuppressWarnings("deprecation")
    void a_red_lock_is_held_by_two_of_three_servers_of_two_systems() throws Exception {
        try (TestMariadb second = TestMariadb.start()) {
            RedissonClient failing = Redlatch.connect(second.url("response_timeout=0.5&retry_for=0"));
            RLock red = client.getRedLock(client.getLock(name), cache.getLock(name), failing.getLock(name));
            assertTrue(red.tryLock(20, SECONDS));
            red.unlock();
            second.stop();
            assertTrue(red.tryLock(20, SECONDS));
            String holder = sql.holder(name);
            assertNotNull(holder);
            assertEquals(1L, redis.call("EXISTS", name));
            Worker<Boolean> other = Worker.start(() -> {
                RLock theirs = cache.getRedLock(another("").getLock(name), cache.getLock(name), failing.getLock(name));
                return theirs.tryLock();
            });
            assertFalse(other.get());
            red.unlock();
            assertNotEquals(holder, sql.holder(name));
            // On a busy machine a call of the other client that was late may take the lock for a moment yet.
            Wait.until("no client has the lock of MariaDB", () -> sql.holder(name) == null);
            failing.shutdown();
            assertTrue(red.tryLock(20, SECONDS), "the lock of a client that was shut down is one that is missing");
            red.unlock();
        }
    }
}

import static java.util.concurrent.TimeUnit.DAYS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.RedissonShutdownException;
import org.redisson.api.RKeys;
import org.redisson.api.RSemaphore;
import org.redisson.api.RType;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.KeysScanOptions;

/** Keys of every kind, on a server of their own: it is emptied. */
class KeysTest {
    private static TestServer server;

    private RedissonClient client;
    private RKeys keys;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void connect() throws Exception {
        server.call("FLUSHALL");
        client = server.connect();
        keys = client.getKeys();
    }

    @AfterEach
    void disconnect() {
        client.shutdown();
    }

    @Test
    @SuppressWarnings("deprecation")
    void times_of_any_length_are_a_hundred_years_at_most() throws Exception {
        set("a");
        List<Callable<Object>> calls = List.of(() -> keys.expire(Duration.ofSeconds(Long.MAX_VALUE), "a"),
                () -> keys.expireAsync(Duration.ofSeconds(Long.MAX_VALUE), "a").get(), () -> keys.expire("a", Long.MAX_VALUE, DAYS),
                () -> keys.expireAsync("a", Long.MAX_VALUE, DAYS).get(), () -> keys.expireAt("a", Long.MAX_VALUE),
                () -> keys.expireAtAsync("a", Long.MAX_VALUE).get(), () -> keys.expireAt(Instant.MAX, "a"),
                () -> keys.expireAtAsync(Instant.MAX, "a").get());
        for (Callable<Object> call : calls) {
            assertTrue(keys.clearExpire("a") || keys.remainTimeToLive("a") == -1);
            call.call();
            long days = keys.remainTimeToLive("a") / DAYS.toMillis(1);
            assertTrue(days > 36_000 && days <= 36_500, days + " days");
        }
        assertTrue(keys.expire("a", -Long.MAX_VALUE, DAYS));
        assertEquals(0, keys.countExists("a"));
    }

    @Test
    void keys_are_counted_touched_and_deleted_by_name() throws Exception {
        set("a", "b", "c");
        client.getLock("lock").lock();
        set("permits"); // by hand: a semaphore's first setting is remembered in a key of its own for a moment
        RSemaphore semaphore = client.getSemaphore("permits");
        assertEquals(5, keys.count());
        assertEquals(5, keys.countAsync().get(10, SECONDS));
        assertEquals(3, keys.countExists("a", "lock", "permits", "none"));
        assertEquals(1, keys.countExistsAsync("a", "none").get(10, SECONDS));
        assertEquals(2, keys.touch("b", "c", "none"));
        assertEquals(2, keys.delete("a", "lock", "none"));
        assertFalse(client.getLock("lock").isLocked());
        assertEquals(1, keys.delete(semaphore));
        assertEquals(1, keys.unlink("b"));
        assertEquals(1, keys.deleteAsync("c", "none").get(10, SECONDS));
        assertEquals(0, keys.countExists());
        assertEquals(0, keys.count());
    }

    @Test
    void keys_are_deleted_by_pattern_however_many_there_are() throws Exception {
        try (Resp resp = new Resp(server.port())) {
            resp.call("EVAL", "for i = 1, 3000 do redis.call('SET', 'job:' .. i, 1); redis.call('SET', 'other:' .. i, 1) end return 1", "0");
        }
        assertEquals(0, keys.deleteByPattern("none*"));
        assertEquals(2000, keys.deleteByPattern("job:[12]???"));
        assertEquals(1000, keys.unlinkByPatternAsync("job:*").get(10, SECONDS));
        assertEquals(3000, keys.count());
    }

    @Test
    void keys_are_listed_page_by_page_and_deleted_on_the_way() throws Exception {
        try (Resp resp = new Resp(server.port())) {
            resp.call("EVAL", "for i = 1, 3000 do redis.call('SET', 'job:' .. i, 1) end return 1", "0");
        }
        set("other");
        assertEquals(3001, new HashSet<>(keys.getKeysStream().collect(Collectors.toList())).size());
        Iterator<String> jobs = keys.getKeys(KeysScanOptions.defaults().pattern("job:*").chunkSize(100)).iterator();
        assertThrows(IllegalStateException.class, jobs::remove);
        Set<String> removed = new HashSet<>(); // while it makes room for keys, the server lists some twice
        for (int i = 0; i < 250; i++) {
            removed.add(jobs.next());
            jobs.remove();
        }
        assertThrows(IllegalStateException.class, jobs::remove);
        assertEquals(3001 - removed.size(), keys.count());
        assertEquals(7, keys.getKeysStream(KeysScanOptions.defaults().limit(7)).count());
        Iterator<String> none = keys.getKeys(KeysScanOptions.defaults().type(RType.ZSET)).iterator();
        assertFalse(none.hasNext());
        assertThrows(NoSuchElementException.class, none::next);
        CompletableFuture<String> behind = keys.getKeysAsync(KeysScanOptions.defaults().pattern("none")).next().toCompletableFuture();
        assertInstanceOf(NoSuchElementException.class,
                assertThrows(ExecutionException.class, () -> behind.get(10, SECONDS)).getCause());
        assertEquals(12739, keys.getSlot("123456789"));
    }

    @Test
    void names_and_patterns_go_through_the_name_mapper() throws Exception {
        RedissonClient mapped = Redisson.create(server.config().setNameMapper(new ShopNames()));
        set("a", "shop:a", "shop:b");
        assertEquals(1, mapped.getKeys().delete("a"));
        assertEquals(List.of("b"), mapped.getKeys().getKeysStream(KeysScanOptions.defaults().pattern("*")).collect(Collectors.toList()));
        mapped.getKeys().rename("b", "renamed");
        assertEquals(1, keys.countExists("shop:renamed"));
        assertEquals(1, mapped.getKeys().deleteByPattern("*"));
        assertEquals(1, keys.countExists("a"));
        mapped.shutdown();
    }

    @Test
    void a_name_that_is_none_and_a_client_that_is_shut_down_are_errors() {
        assertThrows(IllegalArgumentException.class, () -> keys.delete("a", null));
        assertThrows(IllegalArgumentException.class, () -> keys.deleteByPattern(""));
        client.shutdown();
        assertThrows(RedissonShutdownException.class, keys::count);
        ExecutionException failed = assertThrows(ExecutionException.class, () -> keys.deleteAsync("a", "b").get(10, SECONDS));
        assertInstanceOf(RedissonShutdownException.class, failed.getCause());
    }

    private static void set(String... names) throws Exception {
        for (String name : names) {
            server.call("SET", name, "1");
        }
    }
}

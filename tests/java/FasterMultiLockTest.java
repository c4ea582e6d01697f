import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** One lock of several values of a group. */
class FasterMultiLockTest {
    private TestServer server;
    private RedissonClient client;
    private RedissonClient other;

    @BeforeEach
    void start() throws Exception {
        server = TestServer.start();
        client = server.connect();
        other = server.connect();
    }

    @AfterEach
    void stop() {
        client.shutdown();
        other.shutdown();
        server.close();
    }

    @Test
    void one_value_in_common_excludes_and_any_object_releases_it() {
        RLock held = client.getMultiLock("group", Arrays.asList("x", "y"));
        held.lock();
        assertTrue(held.isHeldByCurrentThread() && held.isLocked());
        assertEquals("group", held.getName());
        assertFalse(other.getMultiLock("group", Arrays.asList("y", "z")).tryLock());
        RLock beside = other.getMultiLock("group", Collections.singletonList("z"));
        assertTrue(beside.tryLock());
        assertThrows(IllegalMonitorStateException.class, () -> client.getMultiLock("group", Arrays.asList("y", "v")).tryLock());
        client.getMultiLock("group", Arrays.asList("y", "x", "y")).unlock();
        beside.unlock();
        assertFalse(other.getMultiLock("group", Arrays.asList("x", "y", "z")).isLocked());
    }

    @Test
    void the_codec_writes_a_value_as_redisson_does() throws Exception {
        List<Object> values = Arrays.asList("", "a", "ab", "ä", "价格", "😀", "x".repeat(32), "x".repeat(33), "é".repeat(40), "y".repeat(9000));
        Object theirs = Loaded.redissons("org.redisson.config.Config").getConstructor().newInstance();
        Object single = theirs.getClass().getMethod("useSingleServer").invoke(theirs);
        single.getClass().getMethod("setAddress", String.class).invoke(single, server.url());
        Object redisson = Loaded.redissons("org.redisson.Redisson").getMethod("create", theirs.getClass()).invoke(null, theirs);
        try {
            Method getMultiLock = redisson.getClass().getMethod("getMultiLock", String.class, java.util.Collection.class);
            Method tryLock = Loaded.redissons("org.redisson.api.RLock").getMethod("tryLock");
            for (Object value : values) {
                RLock ours = client.getMultiLock("group", Collections.singletonList(value));
                ours.lock();
                assertEquals(false, tryLock.invoke(getMultiLock.invoke(redisson, "group", Collections.singletonList(value))), "of " + value);
                ours.unlock();
            }
        } finally {
            redisson.getClass().getMethod("shutdown").invoke(redisson);
        }
    }

    @Test
    void with_its_string_codec_a_value_may_be_anything_that_has_a_text() {
        RedissonClient texts = Redisson.create(new Config(client.getConfig()).setCodec(StringCodec.INSTANCE));
        try {
            RLock held = texts.getMultiLock("group", Arrays.asList(42, "x"));
            held.lock();
            assertFalse(client.getMultiLock("group", Collections.singletonList("x")).isLocked(), "another codec, other values");
            held.unlock();
        } finally {
            texts.shutdown();
        }
    }

    @Test
    void values_that_cannot_be_had_are_refused_with_a_remedy() {
        assertRefused(client, Collections.emptyList(), "at least one");
        assertRefused(client, Collections.singletonList(42), "java.lang.Integer");
        assertRefused(client, Collections.singletonList("a\0b"), "U+0000");
        RedissonClient latin = Redisson.create(new Config(client.getConfig()).setCodec(new StringCodec(StandardCharsets.ISO_8859_1)));
        try {
            assertRefused(latin, Collections.singletonList("x"), "UTF-8");
        } finally {
            latin.shutdown();
        }
        assertThrows(NullPointerException.class, () -> client.getMultiLock("group", Collections.singletonList(null)));
        assertThrows(NullPointerException.class, () -> client.getMultiLock(null, Collections.singletonList("x")));
    }

    private static void assertRefused(RedissonClient client, List<Object> values, String says) {
        String said = assertThrows(IllegalArgumentException.class, () -> client.getMultiLock("group", values)).getMessage();
        assertTrue(said.contains(says), said);
    }
}

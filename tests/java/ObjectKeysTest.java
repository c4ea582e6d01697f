import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.RedissonShutdownException;
import org.redisson.api.DeletedObjectListener;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.codec.Kryo5Codec;

/** Semaphores and latches as keys, where programs/ObjectsAsKeys does not look: there they are what Redisson's are. */
class ObjectKeysTest extends LockTest {
    @Test
    void an_object_goes_on_under_its_new_name_and_names_are_mapped() throws Exception {
        RedissonClient mapped = Redisson.create(server.config().setNameMapper(new ShopNames()));
        try {
            RSemaphore semaphore = mapped.getSemaphore(name);
            semaphore.trySetPermits(2);
            semaphore.rename(name + " renamed");
            assertEquals(name + " renamed", semaphore.getName());
            assertEquals("2", server.call("GET", "shop:" + name + " renamed"));
            assertTrue(semaphore.renamenx(name + " again"));
            semaphore.acquire();
            assertEquals("1", server.call("GET", "shop:" + name + " again"));
            assertTrue(semaphore.copy(name + " copied"));
            assertEquals("1", server.call("GET", "shop:" + name + " copied"));
        } finally {
            mapped.shutdown();
        }
    }

    @Test
    void permits_that_are_out_go_with_their_semaphore() throws Exception {
        RPermitExpirableSemaphore semaphore = client.getPermitExpirableSemaphore(name);
        semaphore.trySetPermits(2);
        String out = semaphore.acquire();
        semaphore.rename("{" + name + "}:to");
        assertEquals(1, semaphore.acquiredPermits());
        assertEquals(0L, server.call("EXISTS", name, "{" + name + "}:timeout"));
        client.getPermitExpirableSemaphore("{" + name + "}:to").release(out);
        assertEquals(2, semaphore.availablePermits());
        assertThrows(UnsupportedOperationException.class, () -> semaphore.copyAsync("elsewhere"));
    }

    @Test
    void a_listener_that_is_added_after_a_renaming_is_about_the_new_name() throws Exception {
        server.call("CONFIG", "SET", "notify-keyspace-events", "Kgx");
        RCountDownLatch latch = client.getCountDownLatch(name);
        latch.trySetCount(1);
        latch.renameAsync(name + ":to").get(10, SECONDS);
        CompletableFuture<String> deleted = new CompletableFuture<>();
        int id = latch.addListener((DeletedObjectListener) deleted::complete);
        assertTrue(latch.delete());
        assertEquals(name + ":to", deleted.get(10, SECONDS));
        latch.removeListener(id);
    }

    @Test
    void a_dump_is_the_same_for_both_and_comes_back_on_another_server() throws Exception {
        RSemaphore semaphore = client.getSemaphore(name);
        assertNull(semaphore.dump());
        semaphore.trySetPermits(123_456);
        byte[] state = semaphore.dump();
        assertArrayEquals(state, semaphore.dumpAsync().get(10, SECONDS));
        try (TestServer other = TestServer.start()) {
            RedissonClient there = other.connect();
            there.getSemaphore("restored").restore(state, 50, SECONDS);
            assertEquals(123_456, there.getSemaphore("restored").availablePermits());
            assertTrue(there.getSemaphore("restored").remainTimeToLive() > 20_000);
            semaphore.copy("127.0.0.1", other.port(), 0, 5000);
            assertEquals(123_456, there.getSemaphore(name).availablePermits());
            assertTrue(there.getSemaphore(name).delete());
            semaphore.migrate("127.0.0.1", other.port(), 0, 5000);
            assertEquals(123_456, there.getSemaphore(name).availablePermits());
            there.shutdown();
        }
        assertFalse(semaphore.isExists());
    }

    @Test
    void times_that_no_server_takes_are_the_longest_and_the_earliest() {
        RSemaphore semaphore = client.getSemaphore(name);
        semaphore.trySetPermits(1);
        assertTrue(semaphore.expire(Duration.ofSeconds(Long.MAX_VALUE)));
        assertTrue(semaphore.expireIfLess(Instant.now().plusSeconds(3600)));
        assertTrue(semaphore.expireIfGreater(Instant.MAX));
        assertTrue(semaphore.getExpireTime() > System.currentTimeMillis() + Duration.ofDays(365 * 99).toMillis());
        assertTrue(semaphore.expire(Instant.MIN));
        assertFalse(semaphore.isExists());
    }

    @Test
    void a_call_that_is_impossible_is_an_error_and_changes_nothing() throws Exception {
        RSemaphore semaphore = client.getSemaphore(name);
        assertThrows(RedisException.class, () -> semaphore.rename("to"));
        assertInstanceOf(RedisException.class,
                assertThrows(ExecutionException.class, () -> semaphore.renamenxAsync("to").get(10, SECONDS)).getCause());
        assertEquals(name, semaphore.getName());
        assertThrows(NullPointerException.class, () -> semaphore.rename(null));
        assertThrows(IllegalArgumentException.class, () -> client.getKeys().rename(name, ""));
        assertInstanceOf(Kryo5Codec.class, semaphore.getCodec());
        assertNotNull(semaphore.getInternalEncoding());
        client.shutdown();
        assertThrows(RedissonShutdownException.class, () -> semaphore.rename("to"));
        assertThrows(RedissonShutdownException.class, semaphore::dump);
    }
}

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Holds;
import java.io.File;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.codec.Kryo5Codec;
import org.redisson.config.Config;
import org.redisson.config.NameMapper;

/** Settings that do something, and those that cannot be had. */
class SettingsTest extends LockTest {
    private static final NameMapper SHOP = new ShopNames();

    @Test
    void a_name_mapper_makes_the_key_and_not_the_name() throws Exception {
        assertMapped(server.config().setNameMapper(SHOP));
    }

    @Test
    @SuppressWarnings("deprecation")
    void a_name_mapper_of_the_server_is_used_when_the_client_has_none() throws Exception {
        Config config = server.config();
        config.useSingleServer().setNameMapper(SHOP);
        assertMapped(config);
    }

    @Test
    void a_codec_is_kept_and_a_client_without_one_has_that_of_redisson() {
        assertNull(server.config().getCodec());
        assertEquals(Kryo5Codec.class, client.getConfig().getCodec().getClass());
        RedissonClient made = Redisson.create(server.config().setCodec(StringCodec.INSTANCE));
        assertSame(StringCodec.INSTANCE, made.getConfig().getCodec());
        made.shutdown();
    }

    @Test
    void the_time_that_others_stand_in_the_queue_of_a_fair_lock_is_reckoned_with() throws Exception {
        RLock held = client.getFairLock(name);
        held.lock();
        String deadlines = "redisson_lock_timeout:{" + name + "}";
        long now = System.currentTimeMillis();
        server.call("ZADD", deadlines, String.valueOf(now + 60_000), "other:1");
        server.call("RPUSH", "redisson_lock_queue:{" + name + "}", "other:1");
        RedissonClient made = Redisson.create(server.config().setFairLockWaitTimeout(50_000));
        RFuture<Void> waiting = made.getFairLock(name).lockAsync(7);
        Wait.until("it stands in the queue", () -> server.call("ZSCORE", deadlines, made.getId() + ":7") != null);
        double until = Double.parseDouble(String.valueOf(server.call("ZSCORE", deadlines, made.getId() + ":7")));
        assertTrue(until - now > 50_000 && until - now < 90_000, until - now + " ms");
        assertTrue(waiting.cancel(true));
        made.shutdown();
        held.unlock();
    }

    @Test
    void the_path_of_an_address_chooses_no_database() throws Exception {
        for (String behind : new String[] {"/3", "/", "/3/4", "/3?watchdog=20", "?db=3", "/x"}) {
            for (int database : new int[] {0, 5}) {
                Config config = server.config();
                config.useSingleServer().setAddress(server.url() + behind).setDatabase(database);
                RedissonClient made = Redisson.create(config);
                made.getLock(name).lock();
                try (Resp resp = new Resp(server.port())) {
                    resp.call("SELECT", String.valueOf(database));
                    assertEquals(1L, resp.call("EXISTS", name), behind + ", " + database);
                }
                made.getLock(name).unlock();
                made.shutdown();
            }
        }
    }

    @Test
    void a_path_of_an_address_is_warned_of_once_and_without_its_password() throws Exception {
        Child child = new Child();
        for (String path : System.getProperty("logging.classpath").split(File.pathSeparator)) {
            child.behind(path);
        }
        String address = server.url().replace("://", "://:hunter2@");
        String output = child.run(LockOnce.class, address + "/3", "1");
        List<String> told = output.lines().filter(line -> line.contains("WARN org.redisson.config - ")).collect(Collectors.toList());
        assertEquals(1, told.size(), output);
        assertTrue(told.get(0).contains(server.url().replace("://", "://…@") + "/… says nothing") && told.get(0).contains("setDatabase"), output);
        String started = "INFO org.redisson - redlatch 0\\.1\\.0 on \\S+: client [0-9a-f-]{36} of " + Pattern.quote(server.url().replace("://", "://…@")) + ".*";
        assertEquals(1, output.lines().filter(line -> line.matches(".*" + started)).count(), output);
        assertFalse(output.contains("hunter2"), output);
    }

    private void assertMapped(Config config) throws Exception {
        RedissonClient made = Redisson.create(config);
        RLock mapped = made.getLock(name);
        assertEquals(name, mapped.getName());
        mapped.lock();
        assertEquals(1L, server.call("EXISTS", "shop:" + name));
        assertTrue(lock.tryLock(), "without the mapper it is another lock");
        mapped.unlock();
        assertEquals(0L, server.call("EXISTS", "shop:" + name));
        made.shutdown();
    }

    @Test
    void answers_losses_and_releases_wait_for_no_executor() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        ThreadPoolExecutor busy = new ThreadPoolExecutor(1, 1, 1, SECONDS, new LinkedBlockingQueue<>());
        ThreadPoolExecutor dropping = new ThreadPoolExecutor(1, 1, 1, SECONDS, new ArrayBlockingQueue<>(1), new ThreadPoolExecutor.DiscardPolicy());
        ExecutorService over = Executors.newSingleThreadExecutor();
        over.shutdownNow();
        for (int i = 0; i < 2; i++) {
            busy.submit(() -> end.await(30, SECONDS));
            dropping.submit(() -> end.await(30, SECONDS));
        }
        for (ExecutorService executor : new ExecutorService[] {busy, dropping, over}) {
            RedissonClient made = Redisson.create(server.config().setExecutor(executor));
            RLock held = made.getLock(name);
            assertTrue(held.tryLockAsync(7).get(20, SECONDS));
            RFuture<Void> given = held.lockAsync(8);
            Wait.until("it waits", () -> server.listeners(name) == 1);
            assertTrue(given.cancel(true));
            CompletableFuture<String> continued = new CompletableFuture<>();
            held.unlockAsync(7).whenComplete((value, error) -> continued.complete(Thread.currentThread().getName()));
            assertTrue(continued.get(20, SECONDS).startsWith("redlatch-callbacks-") || continued.get().equals(Thread.currentThread().getName()));
            Wait.until("the lock is free", () -> !lock.isLocked());
            held.lock();
            CompletableFuture<Object> told = new CompletableFuture<>();
            Holds.of(held).onLost(told::complete);
            server.call("DEL", name);
            told.get(20, SECONDS);
            made.shutdown();
        }
        end.countDown();
        busy.shutdown();
        dropping.shutdown();
    }

    @Test
    @SuppressWarnings("deprecation")
    void a_setting_that_cannot_be_had_is_refused_and_its_default_is_not() throws Exception {
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        refused("sslTrustManagerFactory cannot be", config -> config.setSslTrustManagerFactory(trust));
        refused("sslProtocols cannot be [TLSv1.1]", config -> config.useSingleServer().setSslProtocols(new String[] {"TLSv1.1"}));
        Redisson.create(server.config().setSslTrustManagerFactory(null).setSslCiphers(null)).shutdown();
    }

    private void refused(String words, Consumer<Config> setting) {
        Throwable error = assertThrows(UnsupportedOperationException.class, () -> setting.accept(server.config()));
        assertTrue(error.getMessage().contains(words), error.getMessage());
    }
}

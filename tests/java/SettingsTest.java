import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Consumer;
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
        List<String> told = output.lines().filter(line -> line.contains("WARN org.redisson")).collect(Collectors.toList());
        assertEquals(1, told.size(), output);
        assertTrue(told.get(0).contains(server.url().replace("://", "://…@") + "/… says nothing") && told.get(0).contains("setDatabase"), output);
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
    void continuations_run_on_the_executor_that_was_set() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor(work -> new Thread(work, "the-executor"));
        RedissonClient made = Redisson.create(server.config().setExecutor(executor));
        assertEquals("the-executor", threadOfAContinuation(made));
        executor.shutdown();
        assertFalse(threadOfAContinuation(made).equals("redlatch-completions"), "and elsewhere when it was shut down before the client");
        made.shutdown();
    }

    @Test
    void an_executor_that_runs_work_at_once_or_refuses_it_does_not_get_the_thread_that_fetches_completions() throws Exception {
        ThreadPoolExecutor full = new ThreadPoolExecutor(1, 1, 1, SECONDS, new SynchronousQueue<>(),
                new ThreadPoolExecutor.CallerRunsPolicy());
        CompletableFuture<Void> end = new CompletableFuture<>();
        full.execute(end::join);
        RedissonClient made = Redisson.create(server.config().setExecutor(full));
        assertFalse(threadOfAContinuation(made).equals("redlatch-completions"));
        end.complete(null);
        full.shutdown();
        made.shutdown();
    }

    private String threadOfAContinuation(RedissonClient made) throws Exception {
        lock.lock();
        CompletableFuture<String> ran = new CompletableFuture<>();
        made.getLock(name).lockAsync(7).whenComplete((value, error) -> ran.complete(Thread.currentThread().getName()));
        lock.unlock();
        String thread = ran.get(10, SECONDS);
        made.getLock(name).unlockAsync(7).get(10, SECONDS);
        return thread;
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

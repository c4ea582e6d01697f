import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisAuthRequiredException;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisWrongPasswordException;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;
import org.redisson.config.SingleServerConfig;

/** Bad input, and servers that are wrong, silent or dead. */
class TroubleTest extends LockTest {
    @Test
    void a_bad_address_is_named_with_what_to_write_instead() {
        for (String address : List.of("http://localhost", "localhost:6379", "redis://", "redis://localhost:0", "")) {
            Throwable error = assertThrows(IllegalArgumentException.class, () -> Redisson.create(configFor(address)), address);
            assertTrue(error.getMessage().contains("`" + address + "`"), error.getMessage());
            assertTrue(error.getMessage().contains("redis://host:6379"), error.getMessage());
        }
        assertThrows(IllegalArgumentException.class, () -> Redisson.create(new Config()));
        assertThrows(IllegalArgumentException.class, () -> Redisson.create(configFor(null)));
    }

    @Test
    void a_bad_setting_is_named() {
        Config config = server.config();
        Throwable error = assertThrows(IllegalArgumentException.class, () -> config.useSingleServer().setRetryAttempts(-1));
        assertTrue(error.getMessage().contains("-1"), error.getMessage());
        refused("timeout is -5 ms", server -> server.setTimeout(-5));
        refused("connectTimeout is 0 ms", server -> server.setConnectTimeout(0));
        refused("database `-1`", server -> server.setDatabase(-1));
        refused("client_name `two words`", server -> server.setClientName("two words"));
        refused("delays of the retries add up to -2 ms", server -> server.setRetryAttempts(2)
                .setRetryDelay(attempt -> Duration.ofMillis(-1)));
        error = assertThrows(IllegalArgumentException.class, () -> Redisson.create(server.config().setLockWatchdogTimeout(99)));
        assertTrue(error.getMessage().contains("lockWatchdogTimeout is 99 ms"), error.getMessage());
    }

    private void refused(String words, Consumer<SingleServerConfig> setting) {
        Config config = server.config();
        setting.accept(config.useSingleServer());
        Throwable error = assertThrows(IllegalArgumentException.class, () -> Redisson.create(config));
        assertTrue(error.getMessage().contains(words), error.getMessage());
    }

    @Test
    void the_most_attempts_that_can_be_set_are_no_endless_sum() {
        Config config = server.config();
        config.useSingleServer().setRetryAttempts(Integer.MAX_VALUE - 1).setRetryDelay(new ConstantDelay(Duration.ofMillis(1)));
        Redisson.create(config).shutdown();
        config.useSingleServer().setRetryDelay(new ConstantDelay(Duration.ofDays(1)));
        Redisson.create(config).shutdown();
    }

    @Test
    void a_database_that_the_server_does_not_have_is_named() {
        Config config = server.config();
        config.useSingleServer().setDatabase(99);
        Throwable error = assertThrows(RedisConnectionException.class, () -> Redisson.create(config));
        assertTrue(error.getCause().getMessage().contains("DB index is out of range"), error.getCause().getMessage());
    }

    @Test
    void a_host_that_does_not_exist_is_named() {
        String address = "redis://no-such-host.invalid:6379";
        Throwable error = assertThrows(RedisConnectionException.class, () -> Redisson.create(configFor(address)));
        assertTrue(error.getMessage().contains(address) && error.getCause().getMessage().contains("check"), error.getCause().getMessage());
    }

    @Test
    void a_lazy_client_of_a_server_that_is_down_fails_call_by_call_and_works_when_it_is_up() throws Exception {
        try (TestServer mortal = TestServer.start()) {
            mortal.stop();
            RedissonClient lazy = Redisson.create(mortal.config().setLazyInitialization(true));
            Throwable error = assertThrows(RedisConnectionException.class, lazy.getLock(name)::lock);
            assertTrue(error.getMessage().contains(mortal.url()) && error.getMessage().contains("check that it runs"), error.getMessage());
            mortal.restart();
            assertTrue(lazy.getLock(name).tryLock());
            lazy.shutdown();
        }
    }

    @Test
    void a_port_without_a_server_is_named_in_bounded_time() {
        String address = "redis://127.0.0.1:1";
        Throwable error = assertThrows(RedisConnectionException.class, () -> Redisson.create(configFor(address)));
        assertTrue(error.getMessage().contains(address), error.getMessage());
        assertInstanceOf(RedisException.class, error.getCause());
        String expected = "cannot be reached: nothing listens on 127.0.0.1:1; check that it runs and that the address is right";
        assertTrue(error.getCause().getMessage().contains(expected), error.getCause().getMessage());
    }

    @Test
    void a_user_without_a_password_is_an_error_and_not_a_login_as_the_default_user() {
        Config alone = configFor("redis://127.0.0.1:1");
        alone.setUsername("shop");
        for (Config config : List.of(alone, configFor("redis://shop@127.0.0.1:1"))) {
            Throwable error = assertThrows(IllegalArgumentException.class, () -> Redisson.create(config));
            assertTrue(error.getMessage().contains("the user has no password"), error.getMessage());
            assertFalse(error.getMessage().contains("shop"), error.getMessage());
        }
    }

    @Test
    void a_server_that_is_not_redis_is_no_server() throws Exception {
        try (ServerSocket web = serverThatSays("HTTP/1.1 400 Bad Request\r\n\r\n")) {
            Throwable error = assertThrows(RedisConnectionException.class, () -> Redisson.create(configFor(address(web))));
            assertTrue(error.getCause().getMessage().contains("does not speak the Redis protocol"), error.getCause().getMessage());
        }
    }

    @Test
    void a_server_that_says_nothing_is_given_up() throws Exception {
        try (ServerSocket silent = serverThatSays("")) {
            Throwable error = assertThrows(RedisConnectionException.class, () -> Redisson.create(configFor(address(silent))));
            assertTrue(error.getCause().getMessage().contains("does not answer in time"), error.getCause().getMessage());
        }
    }

    @Test
    void a_password_is_sent_and_a_wrong_one_is_an_error_that_does_not_show_it() throws Exception {
        try (TestServer guarded = TestServer.start("--requirepass", "sesame")) {
            RedissonClient right = Redisson.create(guarded.config().setPassword("sesame"));
            assertTrue(right.getLock(name).tryLock());
            right.shutdown();
            RedissonClient named = Redisson.create(guarded.config().setUsername("default").setPassword("sesame"));
            named.shutdown();
            Throwable wrong = assertThrows(RedisConnectionException.class, () -> Redisson.create(guarded.config().setPassword("tahini")));
            assertInstanceOf(RedisWrongPasswordException.class, wrong.getCause());
            assertFalse((wrong + "" + wrong.getCause()).contains("tahini"));
            Throwable none = assertThrows(RedisConnectionException.class, guarded::connect);
            assertInstanceOf(RedisAuthRequiredException.class, none.getCause());
        }
    }

    @Test
    void a_key_of_another_type_is_an_error_with_the_servers_word() throws Exception {
        server.call("SET", name, "text");
        for (Throwable error : List.of(
                assertThrows(RedisException.class, lock::lock),
                assertThrows(RedisException.class, () -> lock.tryLock(1, SECONDS)),
                assertThrows(RedisException.class, () -> lock.getHoldCount()))) {
            assertTrue(error.getMessage().contains("WRONGTYPE") && error.getMessage().contains("`" + name + "`"), error.getMessage());
        }
        assertEquals("text", server.call("GET", name));
    }

    @Test
    void a_name_that_is_null_empty_or_huge_is_refused() {
        assertEquals("the name of a lock is null; give a text", assertThrows(NullPointerException.class, () -> client.getLock((String) null)).getMessage());
        Throwable empty = assertThrows(IllegalArgumentException.class, client.getLock("")::lock);
        assertTrue(empty.getMessage().contains("at least one character"), empty.getMessage());
        Throwable huge = assertThrows(IllegalArgumentException.class, client.getLock("x".repeat(10 << 20))::lock);
        assertTrue(huge.getMessage().length() < 500 && huge.getMessage().contains("10485760"), huge.getMessage());
    }

    @Test
    void names_are_utf_8_on_the_server() throws Exception {
        RLock named = client.getLock(name + " räksmörgås 🦐");
        named.lock();
        assertEquals(1L, server.call("EXISTS", name + " räksmörgås 🦐"));
        named.unlock();
    }

    @Test
    void a_server_that_dies_fails_calls_in_bounded_time_and_all_works_when_it_is_back() throws Exception {
        try (TestServer mortal = TestServer.start()) {
            RedissonClient own = mortal.connect();
            RLock before = own.getLock(name);
            before.lock();
            mortal.stop();
            assertThrows(RedisException.class, own.getLock(name + "-2")::tryLock);
            assertThrows(RedisException.class, () -> own.getLock(name + "-2").tryLock(5, SECONDS));
            mortal.restart();
            Wait.until("it works again", () -> {
                try {
                    return own.getLock(name + "-3").tryLock();
                } catch (RedisException e) {
                    return false;
                }
            });
            Worker<Boolean> waiter = Worker.start(() -> own.getLock(name + "-3").tryLock(10, SECONDS));
            waiter.awaitWaiting(mortal, name + "-3");
            own.getLock(name + "-3").unlock();
            assertTrue(waiter.get());
            own.shutdown();
        }
    }

    @Test
    void a_waiter_outlives_its_server_and_acquires_when_it_is_back() throws Exception {
        try (TestServer mortal = TestServer.start()) {
            RedissonClient own = mortal.connect();
            RedissonClient other = mortal.connect();
            other.getLock(name).lock();
            Worker<Boolean> waiter = Worker.start(() -> own.getLock(name).tryLock(1, TimeUnit.DAYS));
            waiter.awaitWaiting(mortal, name);
            mortal.stop();
            mortal.restart();
            assertTrue(waiter.get());
            own.shutdown();
            other.shutdown();
        }
    }

    private Config configFor(String address) {
        Config config = server.config();
        config.useSingleServer().setAddress(address);
        return config;
    }

    private static String address(ServerSocket socket) {
        return "redis://127.0.0.1:" + socket.getLocalPort();
    }

    /** Answers every connection with the same text, and leaves it open. */
    private static ServerSocket serverThatSays(String text) throws Exception {
        ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Worker.start(() -> {
            while (true) {
                Socket socket = listening.accept();
                socket.getOutputStream().write(text.getBytes());
            }
        });
        return listening;
    }
}

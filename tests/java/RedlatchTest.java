import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Options;
import io.redlatch.Redlatch;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.CommonOptions;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisWrongPasswordException;
import org.redisson.config.Config;

/** Clients of a URL. */
class RedlatchTest extends LockTest {
    @Test
    void a_url_of_redis_gives_a_client_that_shares_its_locks_with_one_of_a_config() throws Exception {
        RedissonClient made = Redlatch.connect(server.url());
        made.getLock(name).lock();
        assertFalse(lock.tryLock());
        made.getLock(name).unlock();
        for (RLock each : new RLock[] {made.getFairLock(name), made.getSpinLock(name), made.getReadWriteLock(name).writeLock(),
                made.getMultiLock(made.getLock(name)), made.getMultiLock(name, List.of("A1", "A2")), made.getLock(CommonOptions.name(name).retryAttempts(1).timeout(Duration.ofSeconds(5)))}) {
            each.lock();
            each.unlock();
        }
        made.getSemaphore(name).trySetPermits(1);
        assertEquals(1, made.getKeys().countExists(name));
        made.getKeys().delete(name);
        made.shutdown();
    }

    @Test
    void the_options_of_a_url_hold() throws Exception {
        RedissonClient made = Redlatch.connect(server.url() + "/3?watchdog=5&prefix=shop:&client_name=orders");
        RLock mine = made.getLock(name);
        mine.lock();
        assertEquals(name, mine.getName());
        assertTrue(mine.remainTimeToLive() <= 5_000);
        try (Resp resp = new Resp(server.port())) {
            resp.call("SELECT", "3");
            assertEquals(1L, resp.call("EXISTS", "shop:" + name));
        }
        assertTrue(String.valueOf(server.call("CLIENT", "LIST")).contains("name=orders"));
        Options.releaseOnShutdown(made).shutdown();
        try (Resp resp = new Resp(server.port())) {
            resp.call("SELECT", "3");
            assertEquals(0L, resp.call("EXISTS", "shop:" + name));
        }
    }

    @Test
    void a_client_of_a_url_has_no_config_and_says_so() {
        RedissonClient made = Redlatch.connect(server.url());
        assertTrue(assertThrows(UnsupportedOperationException.class, made::getConfig).getMessage().contains("connected by a URL"));
        made.shutdown();
    }

    @Test
    void a_config_refuses_the_url_of_another_system_and_names_the_way() {
        for (String scheme : new String[] {"mariadb", "mysqls", "zookeeper", "zookeepers"}) {
            Config config = new Config();
            config.useSingleServer().setAddress(scheme + "://app:hidden@127.0.0.1:1/app");
            String said = assertThrows(IllegalArgumentException.class, () -> Redisson.create(config)).getMessage();
            assertTrue(said.contains(scheme + "://…@127.0.0.1:1/…") && said.contains("io.redlatch.Redlatch.connect"), said);
        }
    }

    @Test
    void a_url_that_cannot_be_used_is_refused_before_anything_is_sent_and_without_its_password() {
        String[][] refused = {{"mariadb://127.0.0.1:1/app", "has no user"}, {"mysql://app:hidden@127.0.0.1:1/app?waiters=0", "the waiters `0`"},
            {"mysql://app:hidden@127.0.0.1:1/app?quarantine=true", "the option quarantine"}, {"mysql://app:hidden@one,two/app", "names several servers"},
            {"zookeeper://one?waiters=3", "the option waiters"}, {"zookeeper://app:hidden@one?quarantine=true", "the option quarantine"},
            {"zookeeper://one/a//b", "a path behind its hosts"}, {"postgresql://app:hidden@one", "has the scheme"}, {"127.0.0.1:6379", "has no `://`"}, {"", "has no `://`"}};
        for (String[] each : refused) {
            String said = assertThrows(IllegalArgumentException.class, () -> Redlatch.connect(each[0]), each[0]).getMessage();
            assertTrue(said.contains(each[1]) && !said.contains("hidden"), said);
        }
        assertThrows(NullPointerException.class, () -> Redlatch.connect(null));
    }

    @Test
    void a_server_that_is_not_there_or_is_of_another_kind_is_a_connection_exception() throws Exception {
        for (String url : new String[] {"redis://127.0.0.1:1?retry_for=0", "mariadb://app:hidden@127.0.0.1:1/app?retry_for=0",
                "mariadb://app:hidden@127.0.0.1:" + server.port() + "/app?connect_timeout=1&retry_for=0",
                "redis://127.0.0.1:" + TestMariadb.shared().port() + "?connect_timeout=1&retry_for=0&response_timeout=1",
                "zookeeper://app:hidden@127.0.0.1:1?retry_for=0", "zookeeper://127.0.0.1:" + server.port() + "?connect_timeout=1&retry_for=0",
                "redis://127.0.0.1:" + TestZookeeper.shared().port() + "?connect_timeout=1&retry_for=0&response_timeout=1"}) {
            RedisConnectionException error = assertThrows(RedisConnectionException.class, () -> Redlatch.connect(url), url);
            assertInstanceOf(RedisException.class, error.getCause(), url);
            assertFalse(error.getMessage().contains("hidden"), error.getMessage());
        }
    }

    @Test
    void a_login_that_mariadb_refuses_is_told_with_its_cause_and_leaves_no_session() throws Exception {
        TestMariadb mariadb = TestMariadb.shared();
        String url = "mariadb://app:secret@127.0.0.1:" + mariadb.port();
        for (String wrong : new String[] {url.replace(":secret", ":hidden") + "/app", url.replace("app:secret", "nobody:hidden") + "/app"}) {
            RedisConnectionException error = assertThrows(RedisConnectionException.class, () -> Redlatch.connect(wrong));
            String said = assertInstanceOf(RedisWrongPasswordException.class, error.getCause()).getMessage();
            assertTrue(said.contains("check the user") && !error.getMessage().contains("hidden"), said);
        }
        RedisConnectionException error = assertThrows(RedisConnectionException.class, () -> Redlatch.connect(url + "/missing"));
        assertTrue(assertInstanceOf(RedisException.class, error.getCause()).getMessage().contains("make that schema"), error.getMessage());
        try (Sql sql = mariadb.sql()) {
            Wait.until("no session is left", () -> sql.sessionsOfClients() == 0);
        }
    }

    @Test
    void a_replica_of_mariadb_keeps_no_locks_and_says_so() throws Exception {
        try (TestMariadb readOnly = TestMariadb.start("--read-only=1")) {
            RedisConnectionException error = assertThrows(RedisConnectionException.class, () -> Redlatch.connect(readOnly.url("retry_for=0")));
            assertTrue(error.getMessage().contains("read-only") && error.getMessage().contains("primary"), error.getMessage());
            try (Sql sql = readOnly.sql()) {
                sql.ask("SET GLOBAL read_only = 0");
            }
            RedissonClient made = Redlatch.connect(readOnly.url());
            assertTrue(made.getLock(name).tryLock());
            assertNotNull(made.getId());
            made.shutdown();
        }
    }
}

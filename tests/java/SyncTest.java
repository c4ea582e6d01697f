import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.command.NoSyncedSlavesException;
import org.redisson.config.Config;

/** The number of replicas that have to confirm, by default and as it is set; tests of the core show its effect. */
class SyncTest {
    private TestServer master;
    private TestServer replica;

    @BeforeEach
    void start_two_servers() throws Exception {
        master = TestServer.start("--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1");
        replica = TestServer.start("--replicaof", "127.0.0.1", String.valueOf(master.port()));
        master.call("SET", "first", "1");
        Wait.until("the replica has told that it has it", () -> info(master, "replication").matches("(?s).*state=online,offset=[1-9].*"));
    }

    @AfterEach
    void stop_both() throws Exception {
        replica.thaw();
        replica.close();
        master.close();
    }

    @Test
    void a_lock_is_on_the_replica_when_it_is_taken_unless_the_settings_say_otherwise() throws Exception {
        with(replicated(), client -> {
            RLock lock = client.getLock("lock");
            lock.lock();
            assertEquals(1L, replica.call("EXISTS", "lock"));
            lock.unlock();
            assertTrue(waits() > 0);
        });
        Config single = new Config();
        single.useSingleServer().setAddress(master.url());
        for (Config silent : new Config[] {single, replicated().setSlavesSyncTimeout(0)}) {
            long before = waits();
            with(silent, client -> client.getLock("lock").lock());
            assertEquals(before, waits());
            master.call("DEL", "lock");
        }
    }

    @Test
    void a_lock_that_no_replica_confirms_is_given_back_and_told_as_redisson_does() throws Exception {
        with(replicated().setSlavesSyncTimeout(100), client -> {
            RLock lock = client.getLock("lock");
            RSemaphore semaphore = client.getSemaphore("semaphore");
            semaphore.trySetPermits(1);
            replica.freeze();
            assertNotSynced(assertThrows(RedisException.class, lock::lock).getCause());
            assertNotSynced(assertThrows(RedisException.class, () -> lock.tryLock(5, SECONDS)).getCause());
            assertNotSynced(assertThrows(ExecutionException.class, () -> lock.lockAsync().get()).getCause());
            assertNotSynced(assertThrows(RedisException.class, semaphore::tryAcquire).getCause());
            assertEquals(0L, master.call("EXISTS", "lock"));
            assertEquals(1, semaphore.availablePermits());
        });
        replica.thaw();
        with(replicated().setSlavesSyncTimeout(10_000), client -> client.getLock("lock").lock());
    }

    @Test
    void a_lack_of_confirmation_is_no_error_where_it_is_not_checked() throws Exception {
        with(replicated().setSlavesSyncTimeout(100).setCheckLockSyncedSlaves(false), client -> {
            client.getLock("warm").lock();
            replica.freeze();
            long before = waits();
            client.getLock("lock").lock();
            assertEquals(before + 1, waits());
        });
    }

    @Test
    void a_server_that_knows_no_wait_is_used_without() throws Exception {
        try (TestServer other = TestServer.start("--rename-command", "WAIT", "")) {
            Config config = new Config();
            config.useMasterSlaveServers().setMasterAddress(other.url());
            with(config, client -> client.getLock("lock").lock());
        }
    }

    @Test
    void times_that_cannot_be_are_refused_by_name() {
        for (long ms : new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE}) {
            Config config = replicated().setSlavesSyncTimeout(ms);
            String said = assertThrows(IllegalArgumentException.class, () -> Redisson.create(config)).getMessage();
            assertTrue(said.contains("slavesSyncTimeout"), said);
        }
    }

    private static void assertNotSynced(Throwable cause) {
        String said = assertInstanceOf(NoSyncedSlavesException.class, cause).getMessage();
        assertTrue(said.contains("checkLockSyncedSlaves") && said.contains("0 of 1 replicas"), said);
    }

    private Config replicated() {
        Config config = new Config();
        config.useReplicatedServers().addNodeAddress(master.url(), replica.url());
        return config;
    }

    private interface Use {
        void by(RedissonClient client) throws Exception;
    }

    private static void with(Config config, Use use) throws Exception {
        RedissonClient client = Redisson.create(config);
        try {
            use.by(client);
        } finally {
            client.shutdown();
        }
    }

    private static String info(TestServer server, String section) throws Exception {
        return String.valueOf(server.call("INFO", section));
    }

    /** How often the master was told to wait for so many of its replicas; a connection that opens asks once for none. */
    private long waits() throws Exception {
        String said = info(master, "commandstats");
        int at = said.indexOf("cmdstat_wait:calls=");
        return at < 0 ? 0 : Long.parseLong(said.substring(said.indexOf('=', at) + 1, said.indexOf(',', at)));
    }
}

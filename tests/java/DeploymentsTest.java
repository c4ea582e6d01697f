import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ShardedSubscriptionMode;

/** Configurations of several servers reach the core. Tests of the core show their effect. */
class DeploymentsTest {
    @ParameterizedTest
    @EnumSource(ShardedSubscriptionMode.class)
    void a_cluster_has_locks_whose_waiters_are_woken(ShardedSubscriptionMode sharded) throws Exception {
        try (TestServer server = TestServer.start("--cluster-enabled", "yes")) {
            String[] slots = IntStream.range(0, 16384).mapToObj(String::valueOf).toArray(String[]::new);
            server.call(Stream.concat(Stream.of("CLUSTER", "ADDSLOTS"), Stream.of(slots)).toArray(String[]::new));
            Wait.until("the cluster is whole", () -> String.valueOf(server.call("CLUSTER", "INFO")).contains("cluster_state:ok"));
            Config config = new Config();
            config.useClusterServers().addNodeAddress(server.url()).setShardedSubscriptionMode(sharded);
            RedissonClient client = Redisson.create(config);
            RedissonClient other = Redisson.create(config);
            try {
                RLock held = client.getLock("lock");
                held.lock();
                Worker<Boolean> waiter = Worker.start(() -> other.getLock("lock").tryLock(20, SECONDS));
                String listening = sharded == ShardedSubscriptionMode.OFF ? "CHANNELS" : "SHARDCHANNELS";
                Wait.until("it listens", () -> String.valueOf(server.call("PUBSUB", listening)).contains("{lock}"));
                held.unlock();
                assertTrue(waiter.get());
                assertThrows(IllegalArgumentException.class, () -> client.getFencedLock("a{b").lock());
            } finally {
                client.shutdown();
                other.shutdown();
            }
        }
    }

    @Test
    void sentinels_name_the_master() throws Exception {
        try (TestServer server = TestServer.start()) {
            Path directory = Files.createTempDirectory("redlatch-sentinel");
            int port = TestServer.freePort();
            Path file = directory.resolve("sentinel.conf");
            Files.write(file, List.of("port " + port, "bind 127.0.0.1", "dir " + directory,
                    "sentinel monitor main 127.0.0.1 " + server.port() + " 1"));
            Process sentinel = new ProcessBuilder("redis-server", file.toString(), "--sentinel")
                    .redirectErrorStream(true).redirectOutput(directory.resolve("log").toFile()).start();
            try {
                Wait.until("the sentinel answers", () -> {
                    try (Resp resp = new Resp(port)) {
                        return "PONG".equals(String.valueOf(resp.call("PING")));
                    } catch (IOException notYet) {
                        return false;
                    }
                });
                Config config = new Config();
                config.useSentinelServers().setMasterName("main").addSentinelAddress("redis://127.0.0.1:" + port);
                assertLocks(config, server);
                config.useSentinelServers().setMasterName("theirs").setRetryAttempts(0);
                assertThrows(RuntimeException.class, () -> Redisson.create(config));
            } finally {
                sentinel.destroyForcibly();
                sentinel.onExit().join();
            }
        }
    }

    @Test
    void the_master_among_replicas_is_found_and_one_that_is_named_is_taken() throws Exception {
        try (TestServer master = TestServer.start();
                TestServer replica = TestServer.start("--replicaof", "127.0.0.1", String.valueOf(master.port()))) {
            Config replicated = new Config();
            replicated.useReplicatedServers().addNodeAddress(replica.url(), master.url());
            assertLocks(replicated, master);
            Config fixed = new Config();
            fixed.useMasterSlaveServers().setMasterAddress(master.url()).addSlaveAddress(replica.url());
            assertLocks(fixed, master);
        }
    }

    private static void assertLocks(Config config, TestServer master) throws Exception {
        RedissonClient client = Redisson.create(config);
        try {
            RLock lock = client.getLock("lock");
            lock.lock();
            assertEquals(1L, master.call("EXISTS", "lock"));
            lock.unlock();
            assertFalse(lock.isLocked());
        } finally {
            client.shutdown();
        }
    }

    @Test
    void settings_that_several_servers_cannot_have_are_refused_by_name() {
        Config none = new Config();
        none.useClusterServers();
        assertRefused(IllegalArgumentException.class, none, "addNodeAddress");
        Config mixed = new Config();
        mixed.useReplicatedServers().addNodeAddress("redis://127.0.0.1:1", "rediss://127.0.0.1:2");
        assertRefused(IllegalArgumentException.class, mixed, "rediss://127.0.0.1:2");
        Config masterless = new Config();
        masterless.useSentinelServers().addSentinelAddress("redis://127.0.0.1:1");
        assertRefused(IllegalArgumentException.class, masterless, "masterName");
        Config elsewhere = new Config();
        elsewhere.useClusterServers().addNodeAddress("redis://127.0.0.1:1").setNatMapper(uri -> uri);
        assertRefused(UnsupportedOperationException.class, elsewhere, "natMapper");
        Config database = new Config();
        database.useClusterServers().addNodeAddress("redis://127.0.0.1:1").setDatabase(3);
        assertRefused(IllegalArgumentException.class, database, "database");
    }

    private static void assertRefused(Class<? extends RuntimeException> type, Config config, String says) {
        String said = assertThrows(type, () -> Redisson.create(config)).getMessage();
        assertTrue(said.contains(says), said);
    }
}

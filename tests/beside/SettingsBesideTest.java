import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.beside.Beside;
import io.redlatch.redisson.config.ConfigAccess;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.BaseCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.Decoder;
import org.redisson.client.protocol.Encoder;
import org.redisson.config.Config;
import org.redisson.config.Credentials;

/** The settings that the locks' client reads from the Redisson's. */
@SuppressWarnings("deprecation") // what is deprecated is read as well
class SettingsBesideTest extends BesideTest {
    /** A codec that only the application has. */
    public static final class Own extends BaseCodec {
        @Override
        public Decoder<Object> getValueDecoder() {
            return StringCodec.INSTANCE.getValueDecoder();
        }

        @Override
        public Encoder getValueEncoder() {
            return value -> StringCodec.INSTANCE.getValueEncoder().encode("own " + value);
        }
    }

    @Test
    void a_cluster_is_read() throws Exception {
        io.redlatch.redisson.config.Config ours = read(config -> config.useClusterServers()
                .addNodeAddress("redis://127.0.0.1:7000", "redis://127.0.0.1:7001").setTimeout(1234).setRetryAttempts(7).setClientName("shop"));
        assertTrue(ours.isClusterConfig());
        assertEquals(List.of("redis://127.0.0.1:7000", "redis://127.0.0.1:7001"), ours.useClusterServers().getNodeAddresses());
        assertEquals(1234, ours.useClusterServers().getTimeout());
        assertEquals(7, ours.useClusterServers().getRetryAttempts());
        assertEquals("shop", ours.useClusterServers().getClientName());
    }

    @Test
    void sentinels_are_read_with_their_addresses() throws Exception {
        io.redlatch.redisson.config.Config ours = read(config -> {
            config.setLockWatchdogTimeout(12_345).setCheckLockSyncedSlaves(false);
            config.useSentinelServers().addSentinelAddress("redis://127.0.0.1:7000").setMasterName("shop").setDatabase(4)
                    .setSentinelPassword("inner").setSentinelUsername("guard").setRetryInterval(250);
            call(config.useSentinelServers(), "setNatMapper", hosts());
        });
        assertTrue(ours.isSentinelConfig());
        assertEquals(12_345, ours.getLockWatchdogTimeout());
        assertEquals(false, ours.isCheckLockSyncedSlaves());
        var sentinels = ours.useSentinelServers();
        assertEquals(List.of("redis://127.0.0.1:7000"), sentinels.getSentinelAddresses());
        assertEquals(List.of("shop", "inner", "guard"),
                List.of(sentinels.getMasterName(), sentinels.getSentinelPassword(), sentinels.getSentinelUsername()));
        assertEquals(4, sentinels.getDatabase());
        assertEquals(250, sentinels.getRetryDelay().calcDelay(0).toMillis());
        assertEquals("b", sentinels.getNatMapper().map(new io.redlatch.redisson.misc.RedisURI("redis://a:1")).getHost());
    }

    @Test
    void replicated_servers_and_a_fixed_master_are_read() throws Exception {
        io.redlatch.redisson.config.Config replicated = read(config -> config.useReplicatedServers().addNodeAddress("redis://127.0.0.1:7000"));
        assertEquals(List.of("redis://127.0.0.1:7000"), replicated.useReplicatedServers().getNodeAddresses());
        io.redlatch.redisson.config.Config fixed = read(config -> config.useMasterSlaveServers().setMasterAddress("redis://127.0.0.1:7000")
                .addSlaveAddress("redis://127.0.0.1:7001"));
        assertEquals("redis://127.0.0.1:7000", fixed.useMasterSlaveServers().getMasterAddress());
    }

    @Test
    void tls_and_a_login_are_read() throws Exception {
        io.redlatch.redisson.config.Config ours = read(config -> {
            config.useSingleServer().setAddress("rediss://127.0.0.1:7000").setSslTruststore(getClass().getResource("SettingsBesideTest.class"))
                    .setSslTruststorePassword("inner").setUsername("app").setPassword("pass").setSslEnableEndpointIdentification(true);
        }, ours2 -> ours2.useSingleServer().setSslTruststore(null));
        var single = ours.useSingleServer();
        assertEquals("rediss://127.0.0.1:7000", single.getAddress());
        assertEquals("inner", first(ours.getSslTruststorePassword(), single.getSslTruststorePassword()));
        assertEquals("app", first(ours.getUsername(), single.getUsername()));
        assertEquals("pass", first(ours.getPassword(), single.getPassword()));
    }

    @Test
    void a_resolver_of_credentials_is_asked_by_both() throws Exception {
        try (TestServer guarded = TestServer.start("--requirepass", "resolved")) {
            Config config = guarded.config();
            call(config.useSingleServer(), "setCredentialsResolver", (org.redisson.config.CredentialsResolver) address ->
                    CompletableFuture.completedFuture(new Credentials(null, "resolved")));
            RedissonClient both = Beside.of(Redisson.create(config));
            both.getLock(name).lock();
            both.getBucket(name + "-bucket").set(1);
            both.getLock(name).unlock();
            both.shutdown();
        }
    }

    @Test
    void a_codec_of_the_application_is_redissons_alone() throws Exception {
        Config config = server.config();
        config.setCodec(new Own());
        RedissonClient both = Beside.of(Redisson.create(config));
        both.getBucket(name + "-bucket").set("text");
        assertEquals("own text", both.getBucket(name + "-bucket").get());
        assertEquals(Own.class, both.getSemaphore(name).getCodec().getClass());
        both.getLock(name).lock();
        both.getLock(name).unlock();
        both.shutdown();
    }

    @Test
    void a_setting_that_locks_cannot_have_is_refused_by_its_name() throws Exception {
        javax.net.ssl.TrustManagerFactory trust =
                javax.net.ssl.TrustManagerFactory.getInstance(javax.net.ssl.TrustManagerFactory.getDefaultAlgorithm());
        UnsupportedOperationException refused = assertThrows(UnsupportedOperationException.class,
                () -> read(config -> config.useSingleServer().setAddress("redis://127.0.0.1:7000").setSslTrustManagerFactory(trust)));
        assertTrue(refused.getMessage().contains("sslTrustManagerFactory"), refused.getMessage());
    }

    @Test
    void a_real_cluster_has_locks_of_both() throws Exception {
        try (TestServer cluster = TestServer.start("--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1")) {
            cluster.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
            Wait.until("the cluster is up", () -> ((String) cluster.call("CLUSTER", "INFO")).contains("cluster_state:ok"));
            Config config = new Config();
            config.useClusterServers().addNodeAddress(cluster.url());
            RedissonClient redisson = Redisson.create(config);
            RedissonClient both = Beside.of(redisson);
            both.getFairLock(name).lock();
            both.getMap(name + "-map").put("a", 1);
            assertTrue(redisson.getFairLock(name).isLocked());
            both.getFairLock(name).unlock();
            both.shutdown();
        }
    }

    @Test
    void the_defaults_of_each_version_are_taken() throws Exception {
        Config theirs = server.config();
        io.redlatch.redisson.config.Config ours = read(config -> config.useSingleServer().setAddress(server.url()));
        assertEquals(Set.of(), ConfigAccess.idle(ours), "settings without effect are left to Redisson");
        Config fresh = new Config();
        fresh.useSingleServer();
        assertEquals(fresh.useSingleServer().getRetryAttempts(), ours.useSingleServer().getRetryAttempts());
        assertEquals(fresh.useSingleServer().getTimeout(), ours.useSingleServer().getTimeout());
        assertEquals(theirs.getLockWatchdogTimeout(), ours.getLockWatchdogTimeout());
        assertEquals(fresh.isCheckLockSyncedSlaves(), ours.isCheckLockSyncedSlaves());
    }

    private static io.redlatch.redisson.config.Config read(Consumer<Config> settings) throws Exception {
        return read(settings, ours -> { });
    }

    /** No server is asked: both connect with their first call. */
    private static io.redlatch.redisson.config.Config read(Consumer<Config> settings, Consumer<io.redlatch.redisson.config.Config> more) {
        Config config = new Config();
        config.setLazyInitialization(true);
        settings.accept(config);
        AtomicReference<io.redlatch.redisson.config.Config> seen = new AtomicReference<>();
        RedissonClient redisson = Redisson.create(config);
        try {
            Beside.client(Beside.of(redisson, ours -> {
                more.accept(ours);
                seen.set(ours);
            })).shutdown();
        } finally {
            redisson.shutdown(0, 0, java.util.concurrent.TimeUnit.SECONDS);
        }
        return seen.get();
    }

    private static String first(String one, String other) {
        return one == null ? other : one;
    }

    /** Its package has changed between versions. */
    private static Object hosts() {
        for (String name : List.of("org.redisson.config.HostNatMapper", "org.redisson.api.HostNatMapper")) {
            try {
                Object mapper = Class.forName(name).getConstructor().newInstance();
                call(mapper, "setHostsMap", Map.of("a", "b"));
                return mapper;
            } catch (ClassNotFoundException e) {
                // In the other one.
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }
        throw new AssertionError("there is no HostNatMapper");
    }

    private static void call(Object bean, String setter, Object value) {
        Method method = Arrays.stream(bean.getClass().getMethods()).filter(each -> each.getName().equals(setter) && each.getParameterCount() == 1
                && each.getParameterTypes()[0].isInstance(value)).findFirst().orElseThrow();
        try {
            method.invoke(bean, value);
        } catch (InvocationTargetException | IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }
}

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.config.Config;
import org.redisson.config.HostNatMapper;
import org.redisson.config.HostPortNatMapper;
import org.redisson.misc.RedisURI;

/** A configuration keeps its settings, also in a copy, and a setting that this library cannot serve is refused by name. */
class ConfigTest {
    /** The settings that change what a client does, or that are refused where they would have to; the others are without effect. */
    private static final Set<String> WITH_EFFECT = Set.of("Address", "NodeAddresses", "SentinelAddresses", "MasterAddress", "MasterName",
            "SentinelUsername", "SentinelPassword", "Database", "ShardedSubscriptionMode", "NatMap", "Timeout", "ConnectTimeout", "RetryAttempts",
            "RetryDelay", "RetryInterval", "ClientName", "Username", "Password", "CredentialsResolver", "NameMapper", "CommandMapper",
            "SslVerificationMode", "SslEnableEndpointIdentification", "SslTruststore", "SslTruststorePassword", "SslKeystore", "SslKeystorePassword",
            "SslKeystoreType", "SslProtocols", "SslCiphers", "SslTrustManagerFactory", "SslKeyManagerFactory", "LockWatchdogTimeout",
            "LazyInitialization", "Executor", "Codec", "CheckLockSyncedSlaves", "SlavesSyncTimeout", "FairLockWaitTimeout");

    /** Settings of which only the default can be had, and one that sets another. */
    private static final Set<String> FIXED = Set.of("setSslTrustManagerFactory", "setSslKeyManagerFactory", "setSslProtocols",
            "setSslCiphers", "setCommandMapper", "setSslEnableEndpointIdentification");

    @ParameterizedTest
    @ValueSource(strings = {"useSingleServer", "useClusterServers", "useSentinelServers", "useReplicatedServers", "useMasterSlaveServers"})
    void settings_are_given_back_and_copied(String mode) throws Exception {
        Config config = new Config();
        Object servers = Config.class.getMethod(mode).invoke(config);
        Map<String, Object> before = all(config, servers);
        Set<String> set = new TreeSet<>();
        setAll(config, set);
        setAll(servers, set);
        assertTrue(set.size() > 70, set.size() + " settings");
        Map<String, Object> after = all(config, servers);
        for (String name : set) {
            assertNotEquals(before.get(name), after.get(name), name);
        }
        Config copy = new Config(config);
        Map<String, Object> copied = all(copy, Config.class.getMethod(mode).invoke(copy));
        assertEquals(only(set, after), only(set, copied));
        assertThrows(IllegalStateException.class, () -> {
            copy.useSingleServer();
            copy.useClusterServers();
        });
    }

    @Test
    void each_mode_knows_what_it_is() {
        Config cluster = new Config();
        cluster.useClusterServers().addNodeAddress("redis://127.0.0.1:1", "redis://127.0.0.1:2");
        assertTrue(cluster.isClusterConfig() && !cluster.isSingleConfig());
        assertEquals(List.of("redis://127.0.0.1:1", "redis://127.0.0.1:2"), cluster.useClusterServers().getNodeAddresses());
        Config sentinels = new Config();
        sentinels.useSentinelServers().setMasterName("main").addSentinelAddress("redis://127.0.0.1:1");
        assertTrue(sentinels.isSentinelConfig());
        assertEquals(IllegalArgumentException.class, assertThrows(RuntimeException.class, () -> Redisson.create(new Config())).getClass());
    }

    @Test
    void addresses_can_be_changed_on_the_way() {
        HostNatMapper hosts = new HostNatMapper();
        hosts.setHostsMap(Map.of("inside", "outside"));
        assertEquals("redis://outside:7000", hosts.map(new RedisURI("redis://inside:7000")).toString());
        assertEquals("redis://other:7000", hosts.map(new RedisURI("redis://other:7000")).toString());
        HostPortNatMapper places = new HostPortNatMapper();
        places.setHostsPortMap(Map.of("inside:7000", "outside:17000"));
        assertEquals("rediss://outside:17000", places.map(new RedisURI("rediss://inside:7000")).toString());
        assertEquals("rediss://inside:7001", places.map(new RedisURI("rediss://inside:7001")).toString());
    }

    @Test
    @SuppressWarnings("deprecation")
    void the_mappers_of_redisson_3_are_mappers_of_4() {
        org.redisson.api.NameMapper names = new org.redisson.api.NameMapper() {
            @Override
            public String map(String name) {
                return "shop:" + name;
            }

            @Override
            public String unmap(String name) {
                return name.substring(5);
            }
        };
        Config config = new Config();
        config.useSingleServer().setNameMapper(names).setRetryInterval(700).setPassword("sesame").setKeepAlive(true);
        assertEquals("shop:a", config.useSingleServer().getNameMapper().map("a"));
        assertEquals(700, config.useSingleServer().getRetryDelay().calcDelay(5).toMillis());
        assertEquals("a", org.redisson.api.NameMapper.direct().map("a"));
        org.redisson.api.HostNatMapper hosts = new org.redisson.api.HostNatMapper();
        hosts.setHostsMap(Map.of("inside", "outside"));
        Config cluster = new Config();
        cluster.useClusterServers().setNatMapper(hosts);
        assertEquals("redis://outside:1", cluster.useClusterServers().getNatMapper().map(new RedisURI("redis://inside:1")).toString());
        assertEquals("redis://b:2", org.redisson.api.NatMapper.direct().map(new RedisURI("redis://b:2")).toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"useSingleServer", "useClusterServers", "useSentinelServers", "useReplicatedServers", "useMasterSlaveServers"})
    void a_client_names_the_settings_that_were_set_and_have_no_effect(String mode) throws Exception {
        Set<String> expected = new TreeSet<>();
        Config config = new Config();
        for (Object settings : List.of(config, Config.class.getMethod(mode).invoke(config))) {
            for (Method setter : settings.getClass().getMethods()) {
                String name = setter.getName().matches("set[A-Z].*") && setter.getParameterCount() == 1 ? setter.getName().substring(3) : "";
                if (!name.isEmpty() && !WITH_EFFECT.contains(name) && !(name.equals("NatMapper") && !mode.equals("useReplicatedServers"))) {
                    expected.add(Character.toLowerCase(name.charAt(0)) + name.substring(1));
                }
            }
        }
        String output = logged(mode, "set");
        List<String> told = output.lines().filter(line -> line.contains("INFO org.redisson")).collect(Collectors.toList());
        assertEquals(1, told.size(), output);
        String names = told.get(0).replaceAll(".*settings without effect in this library: (.*); their.*", "$1");
        assertEquals(expected, new TreeSet<>(List.of(names.split(", "))));
        assertEquals("set\nended by itself", logged(mode, "nothing"));
        assertEquals("set\nended by itself", new Child().run(SetAll.class, mode, "set"), "and they can be set where nothing logs");
    }

    private static String logged(String... arguments) throws Exception {
        Child child = new Child();
        for (String path : System.getProperty("logging.classpath").split(File.pathSeparator)) {
            child.behind(path);
        }
        // Without the line that tells of the start of the client.
        return child.run(SetAll.class, arguments).replaceAll(".*INFO org\\.redisson - redlatch .*\\n", "");
    }

    private static void setAll(Object settings, Set<String> set) throws Exception {
        Map<String, Object> now = all(settings);
        for (Method setter : settings.getClass().getMethods()) {
            String name = setter.getName().substring(3);
            boolean isSetter = setter.getName().matches("set[A-Z].*") && setter.getParameterCount() == 1;
            if (!isSetter || FIXED.contains(setter.getName()) || !now.containsKey(settings.getClass().getSimpleName() + "." + name)) {
                continue;
            }
            Class<?> type = setter.getParameterTypes()[0];
            setter.invoke(settings, another(type, now.get(settings.getClass().getSimpleName() + "." + name)));
            set.add(settings.getClass().getSimpleName() + "." + name);
        }
    }

    private static Object another(Class<?> type, Object value) throws Exception {
        return type == int.class ? Integer.valueOf((int) value + 1)
                : type == long.class ? Long.valueOf((long) value + 1)
                : type == boolean.class ? Boolean.valueOf(!(boolean) value)
                : type == String.class ? "another"
                : type == Object.class ? new Object()
                : type == URL.class ? new URL("file:/another")
                : type == List.class ? List.of("redis://another:1")
                : type == Set.class ? Set.of("redis://another:1")
                : type.isEnum() ? type.getEnumConstants()[type.getEnumConstants()[0] == value ? 1 : 0]
                : Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, inputs) ->
                        method.getName().equals("equals") ? (Object) (proxy == inputs[0]) : method.getName().equals("hashCode") ? 1 : null);
    }

    private static Map<String, Object> only(Set<String> names, Map<String, Object> values) {
        values.keySet().retainAll(names);
        return values;
    }

    private static Map<String, Object> all(Object... settings) throws Exception {
        Map<String, Object> values = new TreeMap<>();
        for (Object each : settings) {
            for (Method getter : each.getClass().getMethods()) {
                boolean inherited = getter.getDeclaringClass() == Object.class;
                if (getter.getName().matches("(get|is)[A-Z].*") && getter.getParameterCount() == 0 && !inherited) {
                    values.put(each.getClass().getSimpleName() + "." + getter.getName().replaceFirst("get|is", ""), getter.invoke(each));
                }
            }
        }
        return values;
    }
}

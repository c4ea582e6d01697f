import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileReader;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.codec.Kryo5Codec;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;
import org.redisson.config.EqualJitterDelay;
import org.redisson.config.ReadMode;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.ShardedSubscriptionMode;
import org.redisson.config.SingleServerConfig;
import org.redisson.config.SslVerificationMode;
import org.redisson.connection.balancer.RandomLoadBalancer;
import org.redisson.misc.RedisURI;

/** Configurations that are files. */
class ConfigFileTest {
    private static final File DIRECTORY = new File("tests/java/config");

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"single.yaml", "single.json"})
    void a_file_sets_what_its_names_say(String name) throws Exception {
        assertSingle(Config.fromYAML(new File(DIRECTORY, name)));
    }

    @Test
    @SuppressWarnings("deprecation")
    void it_may_come_from_anywhere() throws Exception {
        File file = new File(DIRECTORY, "single.json");
        String text = Files.readString(file.toPath());
        ClassLoader loader = getClass().getClassLoader();
        try (InputStream yaml = new FileInputStream(file); InputStream json = new FileInputStream(file)) {
            for (Config config : List.of(Config.fromYAML(text), Config.fromYAML(yaml), Config.fromYAML(file, loader),
                    Config.fromYAML(url(file)), Config.fromYAML(new FileReader(file)), Config.fromJSON(text), Config.fromJSON(json), Config.fromJSON(file),
                    Config.fromJSON(file, loader), Config.fromJSON(url(file)), Config.fromJSON(new FileReader(file)))) {
                assertSingle(config);
            }
        }
    }

    private static void assertSingle(Config config) {
        SingleServerConfig server = config.useSingleServer();
        assertEquals("redis://127.0.0.1:6379", server.getAddress());
        assertEquals("orders", server.getClientName());
        assertEquals(List.of(2, 1500, 2000, 2, 8),
                List.of(server.getDatabase(), server.getTimeout(), server.getConnectTimeout(), server.getRetryAttempts(),
                        server.getConnectionPoolSize()));
        EqualJitterDelay delay = assertInstanceOf(EqualJitterDelay.class, server.getRetryDelay());
        assertEquals(List.of(Duration.ofMillis(200), Duration.ofSeconds(1)), List.of(delay.getBaseDelay(), delay.getMaxDelay()));
        assertEquals(Duration.ofSeconds(2), assertInstanceOf(ConstantDelay.class, server.getReconnectionDelay()).getDelay());
        assertEquals(12000, config.getLockWatchdogTimeout());
        assertNull(config.getUsername());
        assertNull(config.getPassword());
        assertFalse(config.isUseScriptCache());
        assertInstanceOf(Kryo5Codec.class, config.getCodec());
    }

    @Test
    void lists_maps_words_and_classes_are_what_their_settings_take() throws Exception {
        Config cluster = Config.fromYAML(new File(DIRECTORY, "cluster.yaml"));
        assertEquals(List.of("redis://10.0.0.1:7000", "redis://10.0.0.2:7000"), cluster.useClusterServers().getNodeAddresses());
        assertEquals(ReadMode.MASTER, cluster.useClusterServers().getReadMode());
        assertTrue(cluster.useClusterServers().isSlaveNotUsed());
        assertEquals(ShardedSubscriptionMode.OFF, cluster.useClusterServers().getShardedSubscriptionMode());
        assertEquals("RandomLoadBalancer(redis://10\\..*)",
                assertInstanceOf(RandomLoadBalancer.class, cluster.useClusterServers().getLoadBalancer()).toString());
        RedisURI inside = new RedisURI("redis://10.0.0.1:7000");
        assertEquals("redis://192.168.1.1:17000", cluster.useClusterServers().getNatMapper().map(inside).toString());
        assertInstanceOf(ShopNames.class, cluster.getNameMapper());
        Config sentinel = Config.fromYAML(new File(DIRECTORY, "sentinel.yaml"));
        SentinelServersConfig servers = sentinel.useSentinelServers();
        assertEquals(List.of("redis://s1:26379", "redis://s2:26379"), servers.getSentinelAddresses());
        assertEquals("0123", servers.getSentinelPassword());
        assertEquals("redis://host:6379", servers.getNatMapper().map(new RedisURI("redis://10.0.0.1:6379")).toString());
        assertEquals(SslVerificationMode.CA_ONLY, sentinel.getSslVerificationMode());
        assertEquals("file:/etc/trust.p12", sentinel.getSslTruststore().toString());
    }

    @Test
    void a_client_is_made_of_a_file_and_placeholders_are_properties_first() throws Exception {
        System.setProperty("LOCK_PORT", String.valueOf(TestServer.shared().port()));
        System.setProperty("PATH", "of the property");
        try {
            Config config = Config.fromYAML(new File(DIRECTORY, "single.yaml"));
            RedissonClient client = Redisson.create(config);
            assertTrue(client.getLock("from-a-file").tryLock());
            client.shutdown();
            assertEquals("of the property", Config.fromYAML("password: ${PATH}").getPassword());
        } finally {
            System.clearProperty("LOCK_PORT");
            System.clearProperty("PATH");
        }
        assertEquals(System.getenv("PATH"), Config.fromYAML("password: '${PATH}'").getPassword());
        assertEquals("${NO_SUCH_NAME}", Config.fromYAML("password: ${NO_SUCH_NAME}").getPassword());
    }

    @ParameterizedTest
    @ValueSource(strings = {"single.yaml", "cluster.yaml", "sentinel.yaml"})
    @SuppressWarnings("deprecation")
    void a_written_configuration_is_read_again(String name) throws Exception {
        Config config = Config.fromYAML(new File(DIRECTORY, name));
        String yaml = config.toYAML();
        assertEquals(yaml, Config.fromYAML(yaml).toYAML());
        String json = config.toJSON();
        assertEquals(json, Config.fromJSON(json).toJSON());
        assertEquals(yaml, Config.fromJSON(json).toYAML());
        assertFalse(yaml.contains("retryInterval") || yaml.contains("null"), yaml);
    }

    @Test
    void redisson_reads_what_is_written() throws Exception {
        List<String> files = new ArrayList<>();
        for (String name : List.of("single.yaml", "cluster.yaml", "sentinel.yaml")) {
            files.add(Files.writeString(directory.resolve(name), Config.fromYAML(new File(DIRECTORY, name)).toYAML()).toString());
        }
        Path classes = Path.of(ReadYaml.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        String seen = new Child(Loaded.CLASS_PATH, classes).run(ReadYaml.class, files.toArray(new String[0]));
        assertTrue(seen.endsWith("read true false false 12000 STRICT\nread false true false 30000 STRICT\n"
                + "read false false true 30000 CA_ONLY\nended by itself"), seen);
    }

    @Test
    void texts_of_every_sort_are_written_so_that_they_are_read() throws Exception {
        String text = "a \"b\"\\ ${c} # d: 'e'\n\t\u0001ü";
        Config config = new Config().setPassword(text).setCodec(StringCodec.INSTANCE).setNameMapper(new ShopNames());
        config.useSingleServer().setAddress("redis://h:1").setRetryDelay(new ConstantDelay(Duration.ofMillis(1500)));
        String yaml = config.toYAML();
        Config read = Config.fromYAML(yaml);
        assertEquals(text, read.getPassword());
        assertEquals(Duration.ofMillis(1500), read.useSingleServer().getRetryDelay().calcDelay(3));
        assertInstanceOf(StringCodec.class, read.getCodec());
        assertInstanceOf(ShopNames.class, read.getNameMapper());
        assertTrue(yaml.contains("  retryDelay: !<org.redisson.config.ConstantDelay> {\"delay\": \"PT1.5S\"}\n"), yaml);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "singleServerConfig: {timeout: abc} | singleServerConfig.timeout is `abc`, it must be a whole number",
        "threads: 4.5 | threads is `4.5`, it must be a whole number that fits into int",
        "threads: 3000000000 | fits into int",
        "lockWatchdogTimeout: 99999999999999999999 | fits into long",
        "lazyInitialization: maybe | lazyInitialization is `maybe`, it must be true or false",
        "transportMode: nio | it must be one of [NIO, EPOLL, KQUEUE, IO_URING]",
        "sslTruststore: /etc/trust | sslTruststore is `/etc/trust`, it must be a URL",
        "singleServerConfig: {retryDelay: !<org.redisson.config.ConstantDelay> {}} | retryDelay.delay is missing",
        "singleServerConfig: {retryDelay: !<org.redisson.config.ConstantDelay> {delay: 5}} | retryDelay.delay is `5`, it must be a duration",
        "singleServerConfig: {retryDelay: !<java.util.ArrayList> []} | it must be a org.redisson.config.DelayStrategy",
        "singleServerConfig: {retryDelay: {delay: PT1S}} | with a tag that names its class",
        "singleServerConfig: {retryDelay: PT1S} | of a class that its tag names",
        "nameMapper: !<com.example.Gone> {} | com.example.Gone, which is not on the class path",
        "singleServerConfig: 7 | singleServerConfig is no map",
        "singleServerConfig: {retryAttempts: -1} | retryAttempts is -1, it must be from 0",
        "password: [1, 2] | password is a list, it must be a value",
        "'[1, 2]' | the configuration is a list",
        "'singleServerConfig: {' | line 2",
    })
    void a_value_that_a_setting_cannot_take_is_named(String yaml, String words) {
        Throwable error = assertThrows(IllegalArgumentException.class, () -> Config.fromYAML(yaml));
        assertTrue(error.getMessage().contains(words), error.getMessage());
    }

    @Test
    void two_modes_are_refused_and_what_only_redisson_has_is_passed_over() {
        assertThrows(IllegalStateException.class, () -> Config.fromYAML("singleServerConfig: {}\nclusterServersConfig: {}"));
        Config config = Config.fromYAML("codec: !<org.redisson.codec.JsonJacksonCodec> {}\nnettyHook: !<org.redisson.no.Such> {}\n"
                + "lockWatchdogTimeout: 7000\nclusterServersConfig: null\nsingleServerConfig: {address: 'redis://h:1'}");
        assertEquals("org.redisson.codec.JsonJacksonCodec", config.getCodec().toString());
        assertEquals(7000, config.getLockWatchdogTimeout());
        assertTrue(config.isSingleConfig());
    }

    @Test
    void a_class_that_is_not_what_is_wanted_does_not_run() {
        Throwable error = assertThrows(IllegalArgumentException.class, () -> Config.fromYAML("nameMapper: !<ConfigFileTest$Spoiler> {}"));
        assertTrue(error.getMessage().contains("must be a org.redisson.config.NameMapper"), error.getMessage());
        assertEquals(0, SPOILED.get());
    }

    private static final AtomicInteger SPOILED = new AtomicInteger();

    /** A class that acts as soon as it is initialised, as any class on the class path may. */
    static final class Spoiler {
        static {
            SPOILED.incrementAndGet();
        }
    }

    @Test
    void classes_come_from_the_loader_that_is_given() throws Exception {
        Path source = Files.writeString(directory.resolve("Elsewhere.java"),
                "public class Elsewhere extends org.redisson.config.DefaultNameMapper {\n    private String prefix;\n    public void setPrefix(String prefix) { this.prefix = prefix; }\n"
                + "    @Override public String map(String name) { return prefix + name; }\n}\n");
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, "-proc:none", "-cp", Child.jar(), "-d",
                directory.toString(), source.toString()));
        File yaml = Files.writeString(directory.resolve("config.yaml"), "nameMapper: !<Elsewhere> {prefix: 'shop:'}").toFile();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {directory.toUri().toURL()}, getClass().getClassLoader())) {
            assertEquals("shop:a", Config.fromYAML(yaml, loader).getNameMapper().map("a"));
        }
        assertThrows(IllegalArgumentException.class, () -> Config.fromYAML(yaml));
    }

    private static URL url(File file) throws Exception {
        return file.toURI().toURL();
    }
}

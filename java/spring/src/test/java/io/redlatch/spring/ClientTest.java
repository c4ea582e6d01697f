package io.redlatch.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Redlatch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisConnectionException;
import org.redisson.config.Config;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.core.StringRedisTemplate;

/** The client, from each place that may name its server. */
class ClientTest {
    private static Server server;

    private final String name = "client:" + UUID.randomUUID();

    @BeforeAll
    static void server() throws Exception {
        server = Server.shared();
    }

    /** The key of the lock is on the server, in the database. */
    private void locks(ConfigurableApplicationContext application, Server where, int database) throws Exception {
        RLock lock = application.getBean(RedissonClient.class).getLock(name);
        lock.lock();
        RedissonClient observer = Redlatch.connect(where.url() + "/" + database);
        try {
            assertTrue(observer.getLock(name).isLocked());
            lock.unlock();
            assertFalse(observer.getLock(name).isLocked());
        } finally {
            observer.shutdown();
        }
    }

    @Test
    void a_url_goes_before_everything_else() throws Exception {
        try (var application = Apps.start(Small.class, "redlatch.url=" + server.url() + "/2", "spring.redis.redisson.config=nonsense",
                "spring.data.redis.url=nonsense")) {
            locks(application, server, 2);
        }
    }

    @Test
    void host_port_and_database_are_those_of_spring_data() throws Exception {
        try (var application = Apps.start(Small.class, "spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + server.port(),
                "spring.data.redis.database=3", "spring.data.redis.timeout=2s", "spring.data.redis.connect-timeout=1500ms")) {
            locks(application, server, 3);
            Config config = application.getBean(RedissonClient.class).getConfig();
            assertEquals(2000, config.useSingleServer().getTimeout());
            assertEquals(1500, config.useSingleServer().getConnectTimeout());
        }
    }

    @Test
    void the_url_of_spring_data_goes_before_its_host_and_database() throws Exception {
        try (var application = Apps.start(Small.class, "spring.data.redis.url=" + server.url() + "/4", "spring.data.redis.host=nowhere.invalid",
                "spring.data.redis.database=5")) {
            locks(application, server, 4);
        }
    }

    @Test
    void the_login_and_the_name_of_the_client_are_those_of_spring_data() throws Exception {
        try (Server guarded = Server.start("--user", "app", "on", ">s@cret", "~*", "&*", "+@all")) {
            String[] address = {"spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + guarded.port(), "spring.data.redis.client-name=shop"};
            try (var application = Apps.start(Small.class, address[0], address[1], address[2], "spring.data.redis.username=app",
                    "spring.data.redis.password=s@cret")) {
                locks(application, guarded, 0);
                String clients = guarded.call("CLIENT", "LIST");
                assertTrue(clients.lines().anyMatch(line -> line.contains(" name=shop ") && line.contains(" user=app ")), clients);
            }
            try (var application = Apps.start(Small.class, "spring.data.redis.url=redis://app:s%40cret@127.0.0.1:" + guarded.port())) {
                locks(application, guarded, 0);
            }
            Exception refused = assertThrows(Exception.class, () -> Apps.start(Small.class, address[0], address[1], address[2],
                    "spring.data.redis.username=app", "spring.data.redis.password=wrong-secret"));
            assertFalse(Apps.cause(RedisConnectionException.class, refused).getMessage().contains("wrong-secret"));
        }
    }

    @Test
    void sentinels_are_those_of_spring_data() throws Exception {
        try (Server sentinel = Server.sentinel(server); var application = Apps.start(Small.class, "spring.data.redis.sentinel.master=mymaster",
                "spring.data.redis.sentinel.nodes=127.0.0.1:" + sentinel.port(), "spring.data.redis.database=1")) {
            locks(application, server, 1);
        }
    }

    @Test
    void a_cluster_is_that_of_spring_data() throws Exception {
        try (Server cluster = Server.start("--cluster-enabled", "yes")) {
            String[] command = new String[16_384 + 2];
            command[0] = "CLUSTER";
            command[1] = "ADDSLOTS";
            for (int slot = 0; slot < 16_384; slot++) {
                command[slot + 2] = String.valueOf(slot);
            }
            assertEquals("OK", cluster.call(command));
            Wait.until("the cluster is there", () -> cluster.call("CLUSTER", "INFO").contains("cluster_state:ok"));
            try (var application = Apps.start(Small.class, "spring.data.redis.cluster.nodes=127.0.0.1:" + cluster.port())) {
                locks(application, cluster, 0);
                assertTrue(application.getBean(RedissonClient.class).getConfig().isClusterConfig());
            }
        }
    }

    @Test
    void a_master_with_replicas_is_that_of_spring_data() throws Exception {
        try (var application = Apps.start(Small.class, "spring.data.redis.masterreplica.nodes=127.0.0.1:" + server.port())) {
            locks(application, server, 0);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Whole.class, DetailsOfServer.class})
    static class Contained {
    }

    @Test
    void the_details_of_a_container_go_before_the_properties() throws Exception {
        try (var application = Apps.start(Contained.class, "spring.data.redis.host=nowhere.invalid", "spring.data.redis.timeout=2500ms")) {
            locks(application, server, 8);
            assertEquals(2500, application.getBean(RedissonClient.class).getConfig().useSingleServer().getTimeout());
        }
    }

    @Test
    void redissons_yaml_in_a_property_goes_before_the_file() throws Exception {
        try (var application = Apps.start(Small.class, "place=" + server.url(), "spring.redis.redisson.file=file:/nowhere",
                "spring.redis.redisson.config=singleServerConfig: {address: \"${place}\", database: 6}")) {
            locks(application, server, 6);
        }
    }

    @Test
    void redissons_file_has_its_own_placeholders(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("redisson.yaml"),
                "singleServerConfig:\n  address: \"${redlatch.test.place}\"\n  database: ${redlatch.test.none:-7}\nlockWatchdogTimeout: 9000\n");
        System.setProperty("redlatch.test.place", server.url());
        try (var application = Apps.start(Small.class, "spring.redis.redisson.file=file:" + file, "spring.data.redis.url=nonsense")) {
            locks(application, server, 7);
            assertEquals(9000, application.getBean(RedissonClient.class).getConfig().getLockWatchdogTimeout());
        } finally {
            System.clearProperty("redlatch.test.place");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Small.class)
    static class Customized {
        @Bean
        RedlatchCustomizer shorter() {
            return config -> config.setLockWatchdogTimeout(7000);
        }
    }

    @Test
    void a_customizer_changes_the_settings() throws Exception {
        try (var application = Apps.start(Customized.class, "spring.data.redis.url=" + server.url())) {
            assertEquals(7000, application.getBean(RedissonClient.class).getConfig().getLockWatchdogTimeout());
            assertTrue(application.getBean(RedissonClient.class).getConfig().isReleaseOnShutdown());
        }
        Exception refused = assertThrows(Exception.class, () -> Apps.start(Customized.class, "redlatch.url=" + server.url()));
        assertTrue(Apps.cause(IllegalArgumentException.class, refused).getMessage().contains("spring.data.redis"), refused.getMessage());
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Whole.class)
    static class Own {
        @Bean(destroyMethod = "shutdown")
        RedissonClient mine() throws Exception {
            return Redlatch.connect(Server.shared().url());
        }
    }

    @Test
    void a_client_of_the_application_is_the_only_one() {
        try (var application = Apps.start(Own.class, "redlatch.url=nonsense", "spring.data.redis.url=" + server.url())) {
            assertSame(application.getBean("mine"), application.getBean(RedissonClient.class));
        }
    }

    @Test
    void the_templates_of_spring_data_work_beside_it() throws Exception {
        try (var application = Apps.start(Whole.class, "spring.data.redis.url=" + server.url())) {
            StringRedisTemplate template = application.getBean(StringRedisTemplate.class);
            assertTrue(template.getConnectionFactory().getClass().getName().contains("Lettuce"));
            template.opsForValue().set(name + ":value", "1");
            assertEquals(2, template.opsForValue().increment(name + ":value"));
            RLock lock = application.getBean(RedissonClient.class).getLock(name);
            lock.lock();
            assertEquals(Boolean.TRUE, template.hasKey(name));
            lock.unlock();
        }
    }

    @ParameterizedTest
    @CsvSource({"true, 0", "false, 1"})
    void what_is_held_at_the_end_is_given_back_unless_the_application_says_otherwise(boolean releases, long left) throws Exception {
        for (String place : new String[] {"redlatch.url=", "spring.data.redis.url="}) {
            String held = name + place;
            RedissonClient client;
            try (var application = Apps.start(Small.class, place + server.url(), "redlatch.release-on-shutdown=" + releases)) {
                client = application.getBean(RedissonClient.class);
                client.getLock(held).lock(60, TimeUnit.SECONDS);
            }
            assertTrue(client.isShutdown());
            assertEquals(String.valueOf(left), server.call("EXISTS", held));
        }
    }

    @Test
    void without_a_server_the_start_fails_with_a_remedy_unless_it_is_lazy() throws Exception {
        try (Server late = Server.start()) {
            late.stop();
            Exception down = assertThrows(Exception.class, () -> Apps.start(Small.class, "redlatch.url=" + late.url()));
            FailureAnalysis told = new RedlatchFailureAnalyzer().analyze(down);
            assertTrue(told.getDescription().contains("127.0.0.1:" + late.port()), told.getDescription());
            assertTrue(told.getAction().contains("redlatch.lazy=true"), told.getAction());

            try (var ofUrl = Apps.start(Small.class, "redlatch.url=" + late.url(), "redlatch.lazy=true");
                    var ofSpring = Apps.start(Small.class, "spring.data.redis.url=" + late.url(), "redlatch.lazy=true")) {
                late.restart();
                locks(ofUrl, late, 0);
                locks(ofSpring, late, 0);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"spring.data.redis.url, redis://user:pass word@host, pass word, spring.data.redis.url",
        "spring.data.redis.url, http://host, none, redlatch.url", "spring.data.redis.url, redis://host/one, none, /0 to /15",
        "spring.data.redis.timeout, 0s, none, spring.data.redis.timeout", "spring.data.redis.sentinel.master, m, none, sentinel.nodes",
        "spring.data.redis.sentinel.nodes, host:1, none, sentinel.master", "spring.data.redis.ssl.bundle, mine, none, RedlatchCustomizer",
        "spring.redis.redisson.config, nonsense, none, spring.redis.redisson.config", "spring.redis.redisson.file, file:/nowhere, none, classpath:",
        "redlatch.url, nonsense, none, nonsense"})
    void a_bad_property_is_named_with_what_to_write(String property, String value, String secret, String told) {
        Exception refused = assertThrows(Exception.class, () -> Apps.start(Small.class, property + "=" + value));
        String message = Apps.cause(IllegalArgumentException.class, refused).getMessage();
        assertTrue(message.contains(told), message);
        assertFalse(message.contains(secret), message);
    }

    @ParameterizedTest
    @CsvSource({"ssl.enabled, true, rediss://localhost:6379", "url, rediss://host, rediss://host:6379", "host, ::1, redis://[::1]:6379",
        "port, 7000, redis://localhost:7000"})
    void the_address_is_made_of_the_properties(String property, String value, String address) {
        Binder binder = new Binder(new MapConfigurationPropertySource(Map.of("spring.data.redis." + property, value)));
        SpringDataRedis redis = binder.bindOrCreate("spring.data.redis", Bindable.of(SpringDataRedis.class));
        assertEquals(address, redis.config().useSingleServer().getAddress());
    }
}

package io.redlatch.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RedissonClient;
import org.springframework.context.ConfigurableApplicationContext;

/** The health of either generation of Boot, whose classes have other packages. */
class HealthTest {
    /** The status, with the details as a text. */
    private static String health(ConfigurableApplicationContext application) throws Exception {
        Object indicator = application.getBean("redlatchHealthIndicator");
        Object health = indicator.getClass().getSuperclass().getMethod("health").invoke(indicator);
        Map<?, ?> details = (Map<?, ?>) health.getClass().getMethod("getDetails").invoke(health);
        assertEquals(application.getBean(RedissonClient.class).getId(), details.get("clientId"));
        return health.getClass().getMethod("getStatus").invoke(health) + " " + details;
    }

    @ParameterizedTest
    @ValueSource(strings = {"redlatch.url", "spring.data.redis.url"})
    void it_is_up_as_long_as_the_server_answers(String property) throws Exception {
        try (Server server = Server.start("--user", "app", "on", ">s3cret", "~*", "&*", "+@all");
                var application = Apps.start(Whole.class, property + "=redis://app:s3cret@127.0.0.1:" + server.port())) {
            String up = health(application);
            assertTrue(up.startsWith("UP ") && up.contains("127.0.0.1:" + server.port()), up);
            assertFalse(up.contains("s3cret"), up);

            server.stop();
            String down = health(application);
            assertTrue(down.startsWith("DOWN ") && down.contains("127.0.0.1:" + server.port()), down);
            assertFalse(down.contains("s3cret"), down);

            server.restart();
            Wait.until("the health is up again", () -> health(application).startsWith("UP "));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"management.health.redlatch.enabled", "management.health.defaults.enabled"})
    void a_property_leaves_it_out(String property) throws Exception {
        try (var application = Apps.start(Whole.class, "redlatch.url=" + Server.shared().url(), property + "=false")) {
            assertFalse(application.containsBean("redlatchHealthIndicator"));
        }
    }
}

package io.redlatch.spring;

import org.redisson.config.Config;

/**
 * A bean that changes the settings of the client before it connects, in the order of such beans ({@link org.springframework.core.annotation.Order}):
 *
 * <pre>{@code
 * @Bean
 * RedlatchCustomizer watchdog() {
 *     return config -> config.setLockWatchdogTimeout(10_000);
 * }
 * }</pre>
 *
 * <p>A client of {@code redlatch.url} has its options in the URL and no {@link Config}: a customizer beside it ends the start of the application.
 */
@FunctionalInterface
public interface RedlatchCustomizer {
    /** Changes {@code config}, which has what the properties say. */
    void customize(Config config);
}

package io.redlatch.spring;

import org.redisson.api.RedissonClient;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;

/** The health {@code redlatch} in Boot 3.5, unless {@code management.health.redlatch.enabled} is false. */
@AutoConfiguration(after = RedlatchAutoConfiguration.class)
@ConditionalOnClass(name = {"org.springframework.boot.actuate.health.AbstractHealthIndicator",
        "org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator"})
@ConditionalOnSingleCandidate(RedissonClient.class)
@ConditionalOnEnabledHealthIndicator("redlatch")
public class ActuateHealthAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean(name = "redlatchHealthIndicator")
    ActuateHealthIndicator redlatchHealthIndicator(RedissonClient client, RedlatchProperties properties) {
        return new ActuateHealthIndicator(new ClientHealth(client, properties.getUrl()));
    }
}

package io.redlatch.spring;

import org.redisson.api.RedissonClient;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;

/** The health {@code redlatch} in Boot 4.0, unless {@code management.health.redlatch.enabled} is false. */
@AutoConfiguration(after = RedlatchAutoConfiguration.class)
@ConditionalOnClass(name = {"org.springframework.boot.health.contributor.AbstractHealthIndicator",
        "org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator"})
@ConditionalOnSingleCandidate(RedissonClient.class)
@ConditionalOnEnabledHealthIndicator("redlatch")
public class ContributorHealthAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean(name = "redlatchHealthIndicator")
    ContributorHealthIndicator redlatchHealthIndicator(RedissonClient client, RedlatchProperties properties) {
        return new ContributorHealthIndicator(new ClientHealth(client, properties.getUrl()));
    }
}

package io.redlatch.spring;

import org.redisson.api.RedissonClient;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.support.locks.LockRegistry;

/** The registry for Spring Integration, if that is on the class path. */
@AutoConfiguration(after = RedlatchAutoConfiguration.class)
@ConditionalOnClass(LockRegistry.class)
@ConditionalOnSingleCandidate(RedissonClient.class)
public class LockRegistryAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean(LockRegistry.class)
    RedlatchLockRegistry redlatchLockRegistry(RedissonClient client, RedlatchProperties properties) {
        return new RedlatchLockRegistry(client, properties.getLockRegistry().getPrefix());
    }
}

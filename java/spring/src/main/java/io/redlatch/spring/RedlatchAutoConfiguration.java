package io.redlatch.spring;

import org.redisson.api.RedissonClient;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ResourceLoader;

/**
 * The client: of {@code redlatch.url}, else of {@code spring.redis.redisson.config} or {@code spring.redis.redisson.file} (Redisson's YAML), else of
 * {@code spring.data.redis.*}. Beans of Spring Data Redis stay as they are.
 */
@AutoConfiguration
@EnableConfigurationProperties(RedlatchProperties.class)
public class RedlatchAutoConfiguration {
    /** It is shut down with the application, and gives back what it holds, unless {@code redlatch.release-on-shutdown} is false. */
    @Bean(destroyMethod = "shutdown")
    @ConditionalOnMissingBean
    RedissonClient redissonClient(RedlatchProperties properties, Environment environment, ResourceLoader resources,
            ObjectProvider<RedlatchCustomizer> customizers, ObjectProvider<ServerDetails> details) {
        return new ClientFactory(properties, environment, resources, customizers.orderedStream().toList(), details.stream().toList()).client();
    }
}

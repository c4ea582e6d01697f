package io.redlatch.spring;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/** Serves {@link DistributedLock}, with proxies of classes unless {@code spring.aop.proxy-target-class} is false, as Boot does for transactions. */
@AutoConfiguration(after = RedlatchAutoConfiguration.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public class DistributedLockAutoConfiguration {
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    @ConditionalOnMissingBean
    static DistributedLockPostProcessor distributedLockPostProcessor(Environment environment) {
        DistributedLockPostProcessor processor = new DistributedLockPostProcessor();
        processor.setProxyTargetClass(environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
        return processor;
    }
}

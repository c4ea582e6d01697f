package io.redlatch.spring;

import java.lang.reflect.Method;
import org.redisson.api.RedissonClient;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Makes proxies of the beans that have methods with {@link DistributedLock}. */
final class DistributedLockPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {
    private static final long serialVersionUID = 1L;

    private transient ConfigurableListableBeanFactory beans;

    DistributedLockPostProcessor() {
        setBeforeExistingAdvisors(true); // the lock goes around transactions
        // But into another thread, and into each retry: the processors of @Async and @Retryable come later, and go around this one.
        setOrder(LOWEST_PRECEDENCE - 100);
    }

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        super.setBeanFactory(beanFactory);
        if (!(beanFactory instanceof ConfigurableListableBeanFactory)) {
            throw new IllegalArgumentException("@DistributedLock needs a ConfigurableListableBeanFactory, and this is a "
                    + beanFactory.getClass().getName());
        }
        beans = (ConfigurableListableBeanFactory) beanFactory;
        LockedMethods methods = new LockedMethods(beans);
        StaticMethodMatcherPointcut locked = new StaticMethodMatcherPointcut() {
            @Override
            public boolean matches(Method method, Class<?> type) {
                return methods.find(method, type) != null;
            }
        };
        locked.setClassFilter(new ClassFilter() {
            @Override
            public boolean matches(Class<?> type) {
                return !methods.of(type).isEmpty();
            }
        });
        advisor = new DefaultPointcutAdvisor(locked, new DistributedLockInterceptor(methods, beanFactory));
    }

    /** A bean that is destroyed may take locks to its end, so the client is destroyed after it. */
    @Override
    protected boolean isEligible(Object bean, String beanName) {
        boolean eligible = super.isEligible(bean, beanName);
        if (eligible && beans.containsBeanDefinition(beanName)) {
            for (String client : beans.getBeanNamesForType(RedissonClient.class, true, false)) {
                beans.registerDependentBean(client, beanName);
            }
        }
        return eligible;
    }

}

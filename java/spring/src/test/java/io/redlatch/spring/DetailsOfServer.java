package io.redlatch.spring;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.Map;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.ClassUtils;

/** A bean that names the shared server, as Testcontainers have one. Its type in Boot has another package in each generation. */
class DetailsOfServer implements ImportBeanDefinitionRegistrar {
    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        ClassLoader loader = getClass().getClassLoader();
        String before = "org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails";
        Class<?> type = ClassUtils.resolveClassName(ClassUtils.isPresent(before, loader) ? before
                : "org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails", loader);
        registry.registerBeanDefinition("details", of(type));
    }

    private static <T> RootBeanDefinition of(Class<T> type) {
        Class<?> standalone = ClassUtils.resolveClassName(type.getName() + "$Standalone", type.getClassLoader());
        return new RootBeanDefinition(type, () -> {
            try {
                Object place = answering(standalone, Map.of("getHost", "127.0.0.1", "getPort", Server.shared().port(), "getDatabase", 8));
                return type.cast(answering(type, Map.of("getStandalone", place)));
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static Object answering(Class<?> type, Map<String, Object> answers) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
            if (answers.containsKey(method.getName())) {
                return answers.get(method.getName());
            }
            return method.getDeclaringClass() == Object.class ? method.invoke(answers, arguments)
                    : InvocationHandler.invokeDefault(proxy, method, arguments);
        });
    }
}

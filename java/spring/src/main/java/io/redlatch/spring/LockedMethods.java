package io.redlatch.spring;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/** The methods with {@link DistributedLock} of each class. */
final class LockedMethods {
    private final ConfigurableBeanFactory beans;
    private final Map<Class<?>, Map<Method, LockedMethod>> known = new ConcurrentHashMap<>();

    LockedMethods(ConfigurableBeanFactory beans) {
        this.beans = beans;
    }

    /** @throws InvalidDistributedLockException for a method that cannot be served */
    Map<Method, LockedMethod> of(Class<?> type) {
        return known.computeIfAbsent(ClassUtils.getUserClass(type), this::found);
    }

    /** Null: it takes no lock. */
    LockedMethod find(Method method, Class<?> type) {
        Map<Method, LockedMethod> methods = of(type);
        Method specific = ClassUtils.getMostSpecificMethod(method, ClassUtils.getUserClass(type));
        return methods.get(BridgeMethodResolver.findBridgedMethod(specific));
    }

    private Map<Method, LockedMethod> found(Class<?> type) {
        if (!AnnotationUtils.isCandidateClass(type, DistributedLock.class)) {
            return Map.of();
        }
        DistributedLock ofAll = AnnotatedElementUtils.findMergedAnnotation(type, DistributedLock.class);
        return MethodIntrospector.selectMethods(type, (MethodIntrospector.MetadataLookup<LockedMethod>) method -> {
            DistributedLock own = AnnotatedElementUtils.findMergedAnnotation(method, DistributedLock.class);
            if (own == null && ofAll != null && Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())) {
                own = ofAll;
            }
            return own == null || method.isBridge() ? null : new LockedMethod(method, own, beans);
        });
    }
}

package io.redlatch.spring;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** The methods with {@link DistributedLock} of each class. */
final class LockedMethods {
    private final ConfigurableBeanFactory beans;
    private final Map<Class<?>, Map<Method, LockedMethod>> known = new ConcurrentHashMap<>();
    private final Map<Class<?>, Boolean> mentioning = new ConcurrentHashMap<>();

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
        if (!mentions(type)) {
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

    /** Whether the annotation stands on the class or above it. It looks at each class once: few beans have it, and each start looks at all of them. */
    private boolean mentions(Class<?> type) {
        if (type == null || !AnnotationUtils.isCandidateClass(type, DistributedLock.class)) {
            return false;
        }
        Boolean found = mentioning.get(type);
        if (found == null) {
            found = stands(type) || Stream.of(ReflectionUtils.getDeclaredMethods(type)).anyMatch(LockedMethods::stands)
                    || mentions(type.getSuperclass()) || Stream.of(type.getInterfaces()).anyMatch(this::mentions);
            mentioning.put(type, found);
        }
        return found;
    }

    private static boolean stands(AnnotatedElement place) {
        return MergedAnnotations.from(place).isPresent(DistributedLock.class);
    }
}

package io.redlatch.spring;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ReactiveAdapterRegistry;

/** One method with {@link DistributedLock}, as it was checked when the application started. */
final class LockedMethod {
    /** How a method tells its end. */
    enum Ending { RETURN, STAGE, MONO }

    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();
    private static final String CONTINUATION = "kotlin.coroutines.Continuation";
    private static final String MONO = "reactor.core.publisher.Mono";

    private final Method method;
    private final String template;
    private final LockName name;
    /** Null: as long as it takes. */
    final Duration wait;
    /** Null: renewed. */
    final Duration lease;
    final OnBusy onBusy;
    final Ending ending;

    /** @throws InvalidDistributedLockException if it cannot be served */
    LockedMethod(Method method, DistributedLock annotation, ConfigurableBeanFactory beans) {
        this.method = method;
        reachable();
        this.template = resolved(beans, annotation.name());
        this.name = name(beans);
        this.wait = duration("waitTime", resolved(beans, annotation.waitTime()));
        this.lease = duration("leaseTime", resolved(beans, annotation.leaseTime()));
        if (lease != null && lease.compareTo(Duration.ofMillis(1)) < 0) {
            throw invalid("the leaseTime `" + annotation.leaseTime() + "` is below 1 ms; leave it out to have the lock renewed", null);
        }
        this.onBusy = annotation.onBusy();
        this.ending = ending();
        Class<?> type = method.getReturnType();
        if (onBusy == OnBusy.SKIP && type.isPrimitive() && type != void.class) {
            throw invalid("it returns " + type + ", which has no value for a call that is passed over; return "
                    + (type == int.class ? "Integer" : "the class in place of the primitive type") + ", or take onBusy = FAIL", null);
        }
    }

    /** @throws InvalidDistributedLockException if a part of the name has no value */
    String name(Object[] arguments) {
        try {
            return name.of(arguments);
        } catch (IllegalArgumentException e) {
            throw invalid("the name `" + template + "`: " + e.getMessage(), e.getCause());
        }
    }

    private String resolved(ConfigurableBeanFactory beans, String text) {
        try {
            return beans.resolveEmbeddedValue(text);
        } catch (IllegalArgumentException e) {
            throw invalid("`" + text + "` names a property that is not set: " + e.getMessage() + "; set it, or give a default as ${name:5s}", e);
        }
    }

    private void reachable() {
        int modifiers = method.getModifiers();
        String word = Modifier.isPrivate(modifiers) ? "private" : Modifier.isStatic(modifiers) ? "static"
                : Modifier.isFinal(modifiers) ? "final" : null;
        if (word != null) {
            throw invalid("it is " + word + ", so that its calls pass by Spring's proxy and would take no lock; "
                    + (word.equals("final") ? "leave final out (Kotlin: open)" : "make it a public method of the bean"), null);
        }
    }

    private LockName name(ConfigurableBeanFactory beans) {
        if (template == null || template.isBlank()) {
            throw invalid("its name is empty, and one lock would be that of all methods without a name; write it as order:#{id}", null);
        }
        String[] names = method.getParameterCount() == 0 ? null : NAMES.getParameterNames(method);
        LockName parsed;
        try {
            parsed = new LockName(template, names, beans);
        } catch (IllegalArgumentException e) {
            throw invalid("the name `" + template + "`: " + e.getMessage(), e.getCause());
        }
        if (names == null && method.getParameterCount() > 0 && parsed.hasExpressions()) {
            throw invalid("the name `" + template + "` has an expression, and the names of the parameters are not known; compile the class with"
                    + " -parameters (Spring Boot's plugins for Gradle and Maven do)", null);
        }
        return parsed;
    }

    private Duration duration(String attribute, String text) {
        if (text == null || text.isBlank()) {
            return null;
        }
        try {
            return Durations.parse(text);
        } catch (IllegalArgumentException e) {
            throw invalid("the " + attribute + " `" + text + "`: " + e.getMessage(), e.getCause());
        }
    }

    private Ending ending() {
        Class<?>[] parameters = method.getParameterTypes();
        if (parameters.length > 0 && parameters[parameters.length - 1].getName().equals(CONTINUATION)) {
            throw invalid("it is a suspending function of Kotlin, whose end a proxy does not see; take the lock in the function, by"
                    + " io.redlatch.Lease.during", null);
        }
        Class<?> type = method.getReturnType();
        if (type.getName().equals(MONO)) {
            return Ending.MONO;
        }
        if (CompletionStage.class.isAssignableFrom(type)) {
            if (!type.isAssignableFrom(CompletableFuture.class)) {
                throw invalid("it returns a " + type.getName() + ", which only the method itself can make; return CompletionStage"
                        + " or CompletableFuture", null);
            }
            return Ending.STAGE;
        }
        if (Future.class.isAssignableFrom(type) || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null) {
            throw invalid("it returns a " + type.getName() + ", whose end is not awaited, so that the lock would be released too early; return Mono,"
                    + " CompletableFuture or the value, or take the lock in the method, by io.redlatch.Lease or ReactiveLease", null);
        }
        return Ending.RETURN;
    }

    private InvalidDistributedLockException invalid(String trouble, Throwable cause) {
        return new InvalidDistributedLockException("@DistributedLock of " + method.getDeclaringClass().getName() + "." + method.getName() + ": "
                + trouble, cause);
    }
}

package io.redlatch.beside;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Calls a method of one family of types on an object of the other. It is found by its name and the simple names of the types that it takes. */
final class Calls {
    /** By the class of the object: what stands behind a method of an interface. */
    private static final ClassValue<Map<Method, Optional<Method>>> BEHIND = new ClassValue<>() {
        @Override
        protected Map<Method, Optional<Method>> computeValue(Class<?> type) {
            return new ConcurrentHashMap<>();
        }
    };

    private Calls() {}

    /** The method of {@code object} that stands behind that one. */
    static Optional<Method> behind(Object object, Method method) {
        Class<?> type = object.getClass();
        // A class of another loader may outlive this one, and would keep what it has cached.
        return type.getClassLoader() == Calls.class.getClassLoader() ? BEHIND.get(type).computeIfAbsent(method, wanted -> find(type, wanted))
                : find(type, method);
    }

    /** Calls the method that {@code object} has behind that one; inputs, result and exceptions become those of the other family. */
    static Object call(Object object, Method method, Object[] inputs, Exchange exchange) throws Throwable {
        Method behind = behind(object, method).orElseThrow(() -> new UnsupportedOperationException(
                object + " has no " + method + "; this version of Redisson is newer than redlatch-beside, so call the client that Redisson made"));
        Class<?>[] types = behind.getParameterTypes();
        Object[] given = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            given[i] = exchange.across(inputs[i], types[i]);
        }
        try {
            return behind.invoke(object, given);
        } catch (InvocationTargetException e) {
            throw Errors.theirs(e.getCause());
        }
    }

    private static Optional<Method> find(Class<?> type, Method wanted) {
        // Of an interface first: the class itself may not be for others, as that of a lambda.
        for (Class<?> each : interfaces(type)) {
            for (Method method : each.getMethods()) {
                if (isLike(method, wanted)) {
                    method.trySetAccessible(); // the interface may be the application's own
                    return Optional.of(method);
                }
            }
        }
        return Optional.empty();
    }

    private static boolean isLike(Method method, Method wanted) {
        Class<?>[] types = method.getParameterTypes();
        Class<?>[] others = wanted.getParameterTypes();
        // A codec is of the family of its client, and stays there.
        boolean isLike = method.getName().equals(wanted.getName()) && types.length == others.length && !Modifier.isStatic(method.getModifiers())
                && !method.getReturnType().getSimpleName().equals("Codec");
        for (int i = 0; isLike && i < types.length; i++) {
            isLike = types[i].getSimpleName().equals(others[i].getSimpleName());
        }
        return isLike;
    }

    /** All interfaces of a class. */
    static Set<Class<?>> interfaces(Class<?> type) {
        Set<Class<?>> all = new LinkedHashSet<>();
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (Class<?> face : each.getInterfaces()) {
                all.add(face);
                all.addAll(interfaces(face));
            }
        }
        return all;
    }
}

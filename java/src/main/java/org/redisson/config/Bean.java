package org.redisson.config;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/** The settings of an object by name, as its public methods have them. */
final class Bean {
    private Bean() {}

    /** The methods that take one value, in the order of their names. */
    static Map<String, Method> setters(Class<?> type) {
        return methods(type, "set", method -> method.getParameterCount() == 1);
    }

    /** The methods that give a value. */
    static Map<String, Method> getters(Class<?> type) {
        Map<String, Method> getters = methods(type, "get", method -> method.getParameterCount() == 0);
        getters.remove("class");
        getters.putAll(methods(type, "is", method -> method.getParameterCount() == 0 && method.getReturnType() == boolean.class));
        return getters;
    }

    private static Map<String, Method> methods(Class<?> type, String prefix, Predicate<Method> wanted) {
        Map<String, Method> methods = new TreeMap<>();
        for (Method method : type.getMethods()) {
            String name = method.getName();
            if (name.length() > prefix.length() && name.startsWith(prefix) && wanted.test(method)) {
                methods.put(Character.toLowerCase(name.charAt(prefix.length())) + name.substring(prefix.length() + 1), method);
            }
        }
        return methods;
    }

    /** Calls a public method of any class; its exception goes on as it is. */
    static Object call(Method method, Object bean, Object... inputs) {
        try {
            method.trySetAccessible();
            return method.invoke(bean, inputs);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException) {
                throw (RuntimeException) e.getCause();
            }
            throw new IllegalArgumentException(method.getName() + " failed: " + e.getCause(), e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalArgumentException(method + " is not for others", e);
        }
    }
}

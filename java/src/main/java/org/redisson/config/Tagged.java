package org.redisson.config;

import io.redlatch.internal.Document;
import io.redlatch.internal.Log;
import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.redisson.client.codec.Codec;
import org.redisson.client.codec.NamedCodec;

/** Makes objects of the classes that tags name, as in {@code !<org.redisson.config.ConstantDelay> {delay: PT1S}}. */
final class Tagged {
    /** The types that constructors of delays take. */
    private static final Map<Class<?>, List<String>> DELAYS = Map.of(ConstantDelay.class, List.of("delay"),
            FullJitterDelay.class, List.of("baseDelay", "maxDelay"), EqualJitterDelay.class, List.of("baseDelay", "maxDelay"),
            DecorrelatedJitterDelay.class, List.of("minDelay", "maxDelay"));
    private static final String REDISSON = "org.redisson.";

    /** Gives an object the settings that a map has for it. */
    interface BeanFiller {
        void fill(Document map, Object bean, String path);
    }

    private final ClassLoader loader;
    private final BeanFiller filler;
    private final Values values;

    Tagged(ClassLoader loader, BeanFiller filler, Values values) {
        this.loader = loader;
        this.filler = filler;
        this.values = values;
    }

    /** @throws IllegalArgumentException if there is no such class, it is no {@code wanted}, or it cannot be made */
    Object make(String name, Document value, Class<?> wanted, String path) {
        Class<?> type = find(name);
        if (type == null && name.startsWith(REDISSON)) {
            Log.debug("config", "the configuration has " + name + " for " + path + ", which this library has not; it is passed over");
            return wanted == Codec.class ? new NamedCodec(name) : Values.PASSED_OVER;
        }
        if (type == null) {
            throw new IllegalArgumentException(path + " is a " + name + ", which is not on the class path");
        }
        if (!wanted.isAssignableFrom(type)) {
            throw new IllegalArgumentException(path + " is a " + name + ", it must be a " + wanted.getName());
        }
        return DELAYS.containsKey(type) ? delay(type, value, path) : bean(type, value, path);
    }

    /** The class of a value without a tag: that of the setting, unless it is only an interface. */
    Object untagged(Class<?> type, Document value, String path) {
        if (type.isInterface() || Modifier.isAbstract(type.getModifiers()) || type.isPrimitive() || type == String.class || type.isEnum()) {
            throw new IllegalArgumentException(path + " is a " + (value.items() == null ? "map" : "list") + ", it must be a value"
                    + (type.isInterface() ? " with a tag that names its class, as in `!<com.example.Mine> {}`" : ""));
        }
        return bean(type, value, path);
    }

    private Class<?> find(String name) {
        ClassLoader ofThread = Thread.currentThread().getContextClassLoader();
        for (ClassLoader each : Arrays.asList(loader, ofThread, Config.class.getClassLoader())) {
            try {
                if (each != null) {
                    return Class.forName(name, false, each); // no code of the class runs before its type is known to be right
                }
            } catch (ClassNotFoundException e) {
                // The next class loader may have it.
            }
        }
        return null;
    }

    private Object delay(Class<?> type, Document value, String path) {
        List<String> names = DELAYS.get(type);
        Object[] inputs = names.stream().map(name -> {
            Document each = value.entries() == null ? null : value.entries().get(name);
            if (each == null || each.isNull()) {
                throw new IllegalArgumentException(path + "." + name + " is missing; write a duration such as PT1.5S");
            }
            return values.make(each, Duration.class, path + "." + name);
        }).toArray();
        try {
            return type.getConstructors()[0].newInstance(inputs);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(path + " cannot be made: " + e, e);
        }
    }

    private Object bean(Class<?> type, Document value, String path) {
        try {
            Constructor<?> constructor = type.getDeclaredConstructor();
            constructor.trySetAccessible();
            Object made = constructor.newInstance();
            if (value.entries() != null) {
                filler.fill(value, made, path + ".");
            }
            return made;
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(path + " is a " + type.getName() + ", which has no constructor without inputs that works", e);
        }
    }
}

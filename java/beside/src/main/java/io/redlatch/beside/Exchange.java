package io.redlatch.beside;

import io.redlatch.redisson.RedissonMultiLock;
import io.redlatch.redisson.api.RLock;
import io.redlatch.redisson.config.Credentials;
import java.lang.reflect.Array;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.redisson.api.RFencedLock;
import org.redisson.api.RFuture;
import org.redisson.api.RObject;
import org.redisson.command.CommandAsyncExecutor;

/** Turns values of one family of types into those of the other: those of {@code org.redisson}, and those of ours, which are moved. */
final class Exchange {
    private static final String OURS = "io.redlatch.redisson.";
    private static final String THEIRS = "org.redisson.";

    private final CommandAsyncExecutor executor;

    /** @param executor that of Redisson's client; null: no locks are exchanged */
    Exchange(CommandAsyncExecutor executor) {
        this.executor = executor;
    }

    /** {@code value} as a {@code wanted}; a value that is none of a family is itself. */
    Object across(Object value, Class<?> wanted) {
        Object behind = behind(value);
        if (behind == null || wanted.isPrimitive()) {
            return behind;
        }
        if (behind instanceof CompletionStage) {
            CompletionStage<?> stage = (CompletionStage<?>) behind;
            return wanted == RFuture.class ? LentFuture.of(stage, this) : stage.thenApply(this::across);
        }
        if (behind instanceof RLock && !isOf(OURS, wanted)) {
            return lock((RLock) behind); // also as a Lock of Java, which ours is as well
        }
        if (wanted.isInstance(behind)) {
            return across(behind);
        }
        if (behind instanceof Enum) {
            return named(wanted, (Enum<?>) behind);
        }
        if (wanted.isArray()) {
            Object[] items = (Object[]) behind;
            Object all = Array.newInstance(wanted.getComponentType(), items.length);
            for (int i = 0; i < items.length; i++) {
                Array.set(all, i, across(items[i], wanted.getComponentType()));
            }
            return all;
        }
        if (wanted == io.redlatch.redisson.api.options.CommonOptions.class) {
            return Settings.options(behind, this);
        }
        return wanted.isInterface() ? face(wanted, behind, null) : behind;
    }

    /** The value in a future or behind an untyped method. */
    Object across(Object value) {
        if (value instanceof Enum && isOf(OURS, ((Enum<?>) value).getDeclaringClass())) {
            Class<?> type = counterpart(((Enum<?>) value).getDeclaringClass(), OURS, THEIRS);
            return type == null ? value : named(type, (Enum<?>) value);
        }
        if (value != null && value.getClass().getName().equals("org.redisson.config.Credentials")) {
            return new Credentials((String) Settings.value(value, "username"), (String) Settings.value(value, "password"));
        }
        return value;
    }

    /** A lock of ours behind Redisson's types. */
    org.redisson.api.RLock lock(RLock ours) {
        boolean isFenced = ours instanceof io.redlatch.redisson.api.RFencedLock;
        Class<?> type = isFenced ? RFencedLock.class : org.redisson.api.RLock.class;
        if (ours instanceof RedissonMultiLock) {
            return (org.redisson.api.RLock) face(type, ours, null); // it has no key, as there
        }
        Object face = Proxy.newProxyInstance(Exchange.class.getClassLoader(), new Class<?>[] {type, RObject.class}, new Face(ours, null, this));
        return isFenced ? new BesideFencedLock(executor, this, ours, (RFencedLock) face)
                : new BesideLock(executor, this, ours, (org.redisson.api.RLock) face);
    }

    /**
     * The future of a call, behind Redisson's types.
     *
     * @param first sees the value before the caller does
     */
    @SuppressWarnings("unchecked") // a lent future has the value of the call
    <V> RFuture<V> lent(Supplier<CompletionStage<V>> call, Consumer<V> first) {
        try {
            return (RFuture<V>) LentFuture.of(call.get(), this, value -> first.accept((V) value));
        } catch (RuntimeException e) {
            throw (RuntimeException) Errors.theirs(e);
        }
    }

    /** @param other does what {@code object} cannot; null: nothing does */
    Object face(Class<?> wanted, Object object, Object other) {
        Set<Class<?>> faces = new LinkedHashSet<>();
        for (Class<?> each : Calls.interfaces(object.getClass())) {
            Class<?> counterpart = counterpart(each, THEIRS, OURS);
            if (counterpart != null && counterpart != wanted && wanted.isAssignableFrom(counterpart)) {
                faces.add(counterpart); // a listener is asked for what it listens to
            }
        }
        if (faces.isEmpty()) {
            faces.add(wanted);
        }
        return Proxy.newProxyInstance(Exchange.class.getClassLoader(), faces.toArray(new Class<?>[0]), new Face(object, other, this));
    }

    /** Whether that is a lock of ours behind Redisson's types. */
    static boolean isOurs(Object lock) {
        return behind(lock) instanceof RLock;
    }

    /** The object behind one that was exchanged; anything else itself. */
    static Object behind(Object face) {
        if (face instanceof BesideLock) {
            return ((BesideLock) face).ours;
        }
        if (face == null || !Proxy.isProxyClass(face.getClass())) {
            return face;
        }
        Object handler = Proxy.getInvocationHandler(face);
        if (handler instanceof BesideClient) {
            return ((BesideClient) handler).ours;
        }
        return handler instanceof Face ? ((Face) handler).object : face;
    }

    /** @throws IllegalArgumentException if no {@code type} of ours stands behind {@code face} */
    static <T> T behind(Object face, Class<T> type, String what) {
        Object behind = behind(face);
        if (!type.isInstance(behind)) {
            throw new IllegalArgumentException(
                    face + " is no " + what + " of Beside; give one that Beside.of, or a client of it, returned, and no wrapper of it");
        }
        return type.cast(behind);
    }

    /** The class of the same name in the other family; null: there is none. */
    static Class<?> counterpart(Class<?> type, String from, String to) {
        if (!isOf(from, type)) {
            return null;
        }
        try {
            return Class.forName(to + type.getName().substring(from.length()), false, Exchange.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    private static boolean isOf(String family, Class<?> type) {
        return type.getName().startsWith(family);
    }

    private static Object named(Class<?> type, Enum<?> value) {
        for (Object each : type.getEnumConstants()) {
            if (((Enum<?>) each).name().equals(value.name())) {
                return each;
            }
        }
        throw new UnsupportedOperationException(type.getName() + " has no " + value.name());
    }
}

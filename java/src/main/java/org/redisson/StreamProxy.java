package org.redisson;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.api.RLock;

/**
 * An object of this library behind an interface of streams. {@code lock()} of {@code RLockReactive} is {@code lockAsync()} of the lock, called once per
 * subscription; {@code getLock(name)} of {@code RedissonReactiveClient} is that of the client, and its result is behind an interface of streams again.
 */
final class StreamProxy implements InvocationHandler {
    /** The streams of one library. */
    interface Streams {
        /** Whether results of this type are streams. */
        boolean have(Class<?> type);

        /** The stream of {@code type} of what {@code call} gives: the stage of one result, or the iterator of many. */
        Object of(Class<?> type, Callable<?> call);

        /** The interface of locks. */
        Class<?> locks();
    }

    /** The method of a class that stands behind a method of an interface of streams. */
    private static final ClassValue<Map<Method, Method>> BEHIND = new ClassValue<>() {
        @Override
        protected Map<Method, Method> computeValue(Class<?> type) {
            return new ConcurrentHashMap<>();
        }
    };

    private final Object object;
    private final Streams streams;

    private StreamProxy(Object object, Streams streams) {
        this.object = object;
        this.streams = streams;
    }

    /** {@code object} behind {@code face}. */
    static <T> T of(Class<T> face, Object object, Streams streams) {
        return face.cast(Proxy.newProxyInstance(face.getClassLoader(), new Class<?>[] {face}, new StreamProxy(object, streams)));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] inputs) throws Throwable {
        if (method.getDeclaringClass() == Object.class) {
            return method.getName().equals("equals") ? object.equals(behind(inputs[0])) : call(method, inputs);
        }
        Method behind = BEHIND.get(object.getClass()).computeIfAbsent(method, this::find);
        Class<?> result = method.getReturnType();
        if (streams.have(result)) {
            return streams.of(result, () -> checked(behind, inputs));
        }
        Object given = call(behind, isOfLocks(method) ? new Object[] {locks((Object[]) inputs[0])} : inputs);
        return result.isAssignableFrom(behind.getReturnType()) ? given : of(result, given, streams);
    }

    private Method find(Method method) {
        String name = method.getName() + (streams.have(method.getReturnType()) ? "Async" : "");
        Class<?>[] inputs = isOfLocks(method) ? new Class<?>[] {RLock[].class} : method.getParameterTypes();
        try {
            return object.getClass().getMethod(name, inputs);
        } catch (NoSuchMethodException e) {
            throw new AssertionError(object.getClass() + " has nothing behind " + method, e);
        }
    }

    /** Whether it is the multi lock of locks with the types of streams. */
    private boolean isOfLocks(Method method) {
        return method.getParameterCount() == 1 && method.getParameterTypes()[0].getComponentType() == streams.locks();
    }

    private static RLock[] locks(Object[] faces) {
        return Arrays.stream(faces).map(StreamProxy::lock).toArray(RLock[]::new);
    }

    private static RLock lock(Object face) {
        if (behind(face) instanceof RLock) {
            return (RLock) behind(face);
        }
        throw new IllegalArgumentException(face + " is no lock of a client's reactive() or rxJava(); give the lock that it returned, and no wrapper of it");
    }

    /** The object behind an interface of streams; anything else itself. */
    private static Object behind(Object face) {
        boolean isProxy = face != null && Proxy.isProxyClass(face.getClass()) && Proxy.getInvocationHandler(face) instanceof StreamProxy;
        return isProxy ? ((StreamProxy) Proxy.getInvocationHandler(face)).object : face;
    }

    private Object checked(Method method, Object... inputs) throws Exception {
        try {
            return call(method, inputs);
        } catch (Exception | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e); // there is no third sort
        }
    }

    private Object call(Method method, Object... inputs) throws Throwable {
        try {
            return method.invoke(object, inputs);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}

package io.redlatch.beside;

import io.redlatch.redisson.config.Config;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Redisson's client, of which the locks are those of ours. */
final class BesideClient implements InvocationHandler {
    private static final Set<String> OURS = Set.of("getLock", "getSpinLock", "getFairLock", "getNonReentrantLock", "getNonReentrantFairLock",
            "getReadWriteLock", "getFencedLock", "getMultiLock", "getRedLock", "getSemaphore", "getPermitExpirableSemaphore", "getCountDownLatch");

    private final Redisson theirs;
    final io.redlatch.redisson.api.RedissonClient ours;
    private final Exchange exchange;

    private BesideClient(Redisson theirs, io.redlatch.redisson.api.RedissonClient ours) {
        this.theirs = theirs;
        this.ours = ours;
        this.exchange = new Exchange(theirs.getCommandExecutor());
    }

    static RedissonClient of(RedissonClient redisson, Consumer<Config> settings) {
        if (!(redisson instanceof Redisson)) {
            throw new IllegalArgumentException(
                    redisson + " is no client of Redisson; give the one that Redisson.create returned, and no wrapper of it");
        }
        Config config = new Settings(redisson.getConfig()).config();
        settings.accept(config);
        io.redlatch.redisson.api.RedissonClient ours;
        try {
            ours = io.redlatch.redisson.Redisson.create(config);
        } catch (RuntimeException e) {
            throw (RuntimeException) Errors.theirs(e);
        }
        return (RedissonClient) Proxy.newProxyInstance(BesideClient.class.getClassLoader(), new Class<?>[] {RedissonClient.class},
                new BesideClient((Redisson) redisson, ours));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] inputs) throws Throwable {
        switch (method.getName()) {
            case "equals":
                return proxy == inputs[0];
            case "hashCode":
                return System.identityHashCode(proxy);
            case "toString":
                return "the locks of " + ours + " beside " + theirs;
            case "shutdown":
            case "shutdownAsync":
                return shutdown(method, inputs);
            case "isShutdown":
                return theirs.isShutdown() && ours.isShutdown();
            default:
                return OURS.contains(method.getName()) ? object(method, inputs) : call(method, inputs);
        }
    }

    private Object object(Method method, Object[] inputs) throws Throwable {
        boolean isOfLocks = method.getParameterTypes()[0] == RLock[].class;
        if (isOfLocks && !Arrays.stream((RLock[]) inputs[0]).allMatch(Exchange::isOurs)) {
            return call(method, inputs); // Redisson's own of locks of both
        }
        Object made = Calls.call(ours, method, inputs, exchange);
        if (made instanceof io.redlatch.redisson.api.RLock) {
            return exchange.lock((io.redlatch.redisson.api.RLock) made);
        }
        // Redisson does the calls that only its version of the object has: the key is the same.
        return exchange.face(method.getReturnType(), made, call(method, inputs));
    }

    private Object shutdown(Method method, Object[] inputs) throws Throwable {
        if (method.getName().equals("shutdownAsync")) {
            CompletionStage<Void> end = inputs == null ? ours.shutdownAsync() : ours.shutdownAsync((Duration) inputs[0], (Duration) inputs[1]);
            return CompletableFuture.allOf(end.toCompletableFuture(), ((CompletionStage<?>) call(method, inputs)).toCompletableFuture());
        }
        try {
            if (inputs == null) {
                ours.shutdown();
            } else {
                ours.shutdown((Long) inputs[0], (Long) inputs[1], (TimeUnit) inputs[2]);
            }
        } finally {
            call(method, inputs);
        }
        return null;
    }

    private Object call(Method method, Object[] inputs) throws Throwable {
        try {
            return method.invoke(theirs, inputs);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.beside.Beside;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.api.ObjectListener;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.client.RedisException;

/** Every method that the Redisson of this version has for locks, semaphores and latches is answered. */
class AnsweredBesideTest extends BesideTest {
    @BeforeAll
    static void report() throws Exception {
        server.call("CONFIG", "SET", "notify-keyspace-events", "Kgx"); // for the listeners
    }

    @AfterAll
    static void reportNothing() throws Exception {
        server.call("CONFIG", "SET", "notify-keyspace-events", "");
    }

    /** There are no conditions across processes, as in Redisson; and no permit's id can be out twice. */
    private static final String NEVER = "R(Fenced)?Lock newCondition|RPermitExpirableSemaphore copy(AndReplace)?(Async)?";
    /** The server or the library refuses these inputs: the call has arrived. */
    private static final List<Class<?>> REFUSALS = List.of(RedisException.class, IllegalMonitorStateException.class, IllegalArgumentException.class);

    @Test
    void each_method_has_an_answer() throws Exception {
        Map<Class<?>, Function<String, Object>> objects = new LinkedHashMap<>();
        objects.put(RLock.class, client::getLock);
        objects.put(RFencedLock.class, client::getFencedLock);
        objects.put(RReadWriteLock.class, client::getReadWriteLock);
        objects.put(RSemaphore.class, permits -> {
            client.getSemaphore(permits).trySetPermits(5);
            return client.getSemaphore(permits);
        });
        objects.put(RPermitExpirableSemaphore.class, permits -> {
            client.getPermitExpirableSemaphore(permits).trySetPermits(5);
            return client.getPermitExpirableSemaphore(permits);
        });
        objects.put(RCountDownLatch.class, client::getCountDownLatch);
        List<String> silent = new ArrayList<>();
        int called = 0;
        for (Map.Entry<Class<?>, Function<String, Object>> each : objects.entrySet()) {
            for (Method method : each.getKey().getMethods()) {
                if (Modifier.isStatic(method.getModifiers())) {
                    continue;
                }
                called++;
                Throwable error = error(each.getValue().apply(name + "-" + called), method);
                boolean isMissing = error != null && REFUSALS.stream().noneMatch(type -> type.isInstance(error));
                boolean hasReason = error instanceof UnsupportedOperationException
                        && (each.getKey().getSimpleName() + " " + method.getName()).matches(NEVER);
                if (isMissing && !hasReason) {
                    silent.add(method + ": " + error);
                }
            }
        }
        assertEquals(List.of(), silent);
        assertTrue(called > 250, called + " methods");
    }

    private static Throwable error(Object object, Method method) throws Exception {
        Class<?>[] types = method.getParameterTypes();
        Object[] inputs = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            inputs[i] = input(types[i], method.getName());
        }
        try {
            Object result = method.invoke(object, inputs);
            if (result instanceof Future && !method.getName().startsWith("await")) {
                ((Future<?>) result).get(20, TimeUnit.SECONDS);
            }
            return null;
        } catch (InvocationTargetException | ExecutionException e) {
            return e.getCause();
        }
    }

    private static Object input(Class<?> type, String method) {
        if (type == int.class) {
            return 1;
        } else if (type == long.class) {
            return 100L;
        } else if (type == TimeUnit.class) {
            return TimeUnit.MILLISECONDS;
        } else if (type == Duration.class) {
            return Duration.ofMillis(100);
        } else if (type == Instant.class) {
            return Instant.now().plusSeconds(9);
        } else if (type == Date.class) {
            return new Date(System.currentTimeMillis() + 9_000);
        } else if (type == ObjectListener.class) {
            org.redisson.api.DeletedObjectListener listener = deleted -> { };
            return listener;
        } else if (type == String.class) {
            return method.startsWith("migrate") || method.equals("copy") ? "127.0.0.1" : "00112233445566778899aabbccddeeff";
        } else if (type == List.class) {
            return List.of("00112233445566778899aabbccddeeff");
        }
        return type == byte[].class ? new byte[] {1} : null;
    }

    @Test
    void the_lock_behind_it_is_always_ours() {
        for (RLock each : List.of(lock, client.getFairLock(name), client.getSpinLock(name), client.getFencedLock(name),
                client.getReadWriteLock(name).readLock(), client.getReadWriteLock(name).writeLock(), client.getMultiLock(lock))) {
            assertTrue(Beside.lock(each).getClass().getName().startsWith("io.redlatch.redisson."), each.toString());
        }
    }
}

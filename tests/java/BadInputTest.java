import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Redlatch;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.ObjectListener;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.CommonOptions;
import org.redisson.client.RedisException;
import org.redisson.config.ConstantDelay;
import org.redisson.config.DecorrelatedJitterDelay;
import org.redisson.config.DelayStrategy;
import org.redisson.config.EqualJitterDelay;
import org.redisson.config.FullJitterDelay;

/** Every method of every object with every bad value: an answer, or an exception that callers know, in bounded time. */
class BadInputTest extends LockTest {
    private static final Set<Class<?>> KNOWN = Set.of(NullPointerException.class, IllegalArgumentException.class,
            IllegalMonitorStateException.class, UnsupportedOperationException.class, CancellationException.class, RedisException.class);
    private static final Map<Class<?>, List<?>> BAD = Map.of(long.class, List.of(Long.MIN_VALUE, -1L, 0L, Long.MAX_VALUE), int.class,
            List.of(Integer.MIN_VALUE, -1, 0, Integer.MAX_VALUE), TimeUnit.class, Arrays.asList(null, TimeUnit.NANOSECONDS, TimeUnit.DAYS),
            String.class, Arrays.asList(null, "", "zz", "{"), byte[].class,
            Arrays.asList(null, new byte[0], new byte[] {1}), List.class, Arrays.asList(null, List.of(), Arrays.asList((Object) null)),
            Duration.class, Arrays.asList(null, Duration.ofSeconds(Long.MIN_VALUE), Duration.ofSeconds(Long.MAX_VALUE)), Instant.class,
            Arrays.asList(null, Instant.MIN, Instant.MAX), Date.class, Arrays.asList(null, new Date(Long.MAX_VALUE)), ObjectListener.class,
            Arrays.asList((Object) null));

    @Test
    void locks_take_or_refuse_everything() throws Exception {
        for (RLock each : List.of(lock, client.getFairLock(name + "f"), client.getSpinLock(name + "s"),
                client.getNonReentrantLock(name + "n"), client.getReadWriteLock(name + "rw").readLock(),
                client.getReadWriteLock(name + "w").writeLock(), client.getMultiLock(client.getLock(name + "1"), client.getLock(name + "2")))) {
            all(RLock.class, each, each::forceUnlock);
        }
        RFencedLock fenced = client.getFencedLock(name + "t");
        all(RFencedLock.class, fenced, fenced::forceUnlock);
    }

    @Test
    void locks_of_mariadb_take_or_refuse_everything_and_leave_nothing() throws Exception {
        TestMariadb mariadb = TestMariadb.shared();
        RedissonClient made = Redlatch.connect(mariadb.url());
        RLock multi = made.getMultiLock(made.getLock(name + "1"), lock);
        for (RLock each : List.of(made.getLock(name), made.getNonReentrantLock(name), multi)) {
            all(RLock.class, each, each::forceUnlock);
        }
        RFencedLock fenced = made.getFencedLock(name);
        all(RFencedLock.class, fenced, fenced::forceUnlock);
        for (String each : new String[] {"", "n".repeat(10_000_000), "\uD83D\uDD12", "a\u0000b", "'; DROP TABLE redlatch_fence; -- "}) {
            RLock odd = made.getLock(each);
            try {
                assertTrue(odd.tryLock());
                odd.unlock();
            } catch (IllegalArgumentException e) {
                assertTrue(each.isEmpty() || each.length() > 10_000, e.getMessage());
            }
        }
        try (Sql sql = mariadb.sql()) {
            for (String each : List.of(name, name + "1", "\uD83D\uDD12")) {
                assertEquals(null, sql.holder(each), each);
            }
            made.shutdown();
            Wait.until("no session is left", () -> sql.sessionsOfClients() == 0);
        }
    }

    @Test
    void semaphores_and_latches_take_or_refuse_everything() throws Exception {
        RSemaphore semaphore = client.getSemaphore(name + "-semaphore");
        all(RSemaphore.class, semaphore, () -> {
            semaphore.delete();
            semaphore.trySetPermits(Integer.MAX_VALUE);
        });
        RPermitExpirableSemaphore permits = client.getPermitExpirableSemaphore(name + "-permits");
        all(RPermitExpirableSemaphore.class, permits, () -> {
            permits.delete();
            permits.trySetPermits(1);
        });
        RCountDownLatch latch = client.getCountDownLatch(name + "-latch");
        all(RCountDownLatch.class, latch, latch::delete);
    }

    @Test
    void durations_of_options_and_delays_take_or_refuse_everything() {
        Duration endless = Duration.ofSeconds(Long.MAX_VALUE);
        Duration never = Duration.ofSeconds(Long.MIN_VALUE);
        for (DelayStrategy delay : List.of(new ConstantDelay(endless), new FullJitterDelay(endless, endless),
                new EqualJitterDelay(Duration.ofMillis(1), endless), new DecorrelatedJitterDelay(endless, endless))) {
            assertFalse(delay.calcDelay(Integer.MAX_VALUE - 1).isNegative());
            assertTrue(client.getLock(CommonOptions.name(name).timeout(endless).retryDelay(delay)).tryLock());
            lock.forceUnlock();
        }
        assertThrows(IllegalArgumentException.class, () -> CommonOptions.name(name).timeout(never));
        assertThrows(IllegalArgumentException.class, () -> client.getLock(CommonOptions.name(name).retryDelay(new ConstantDelay(never))));
    }

    private static void all(Class<?> type, Object object, Runnable before) throws Exception {
        Set<String> unknown = new TreeSet<>();
        int calls = 0;
        for (Method method : type.getMethods()) {
            for (List<Object> inputs : inputs(List.of(method.getParameterTypes()))) {
                // An acquire of more permits than there are waits for the whole time.
                boolean endless = method.getName().matches("(a|tryA)cquire(Async)?") && inputs.contains(Integer.MAX_VALUE);
                // A server that moves a key to another one answers no client meanwhile.
                boolean moves = method.getName().startsWith("migrate") || method.getName().startsWith("copy") && method.getParameterCount() == 4;
                if (method.getName().contains("removeListener") || endless || moves) {
                    continue;
                }
                before.run();
                Throwable error = call(method, object, inputs);
                calls++;
                if (error != null && !KNOWN.contains(error.getClass())) {
                    unknown.add(object.getClass().getSimpleName() + "." + method.getName() + inputs + ": " + error);
                }
            }
        }
        before.run();
        assertEquals(Set.of(), unknown);
        assertTrue(calls > 20, calls + " calls");
    }

    private static Throwable call(Method method, Object object, List<Object> inputs) throws Exception {
        try {
            Object result = method.invoke(object, inputs.toArray());
            if (result instanceof Future) {
                ((Future<?>) result).get(10, SECONDS);
            }
            return null;
        } catch (InvocationTargetException | ExecutionException e) {
            return e.getCause();
        }
    }

    private static List<List<Object>> inputs(List<Class<?>> types) {
        List<List<Object>> all = new ArrayList<>(List.of(List.of()));
        for (Class<?> type : types) {
            List<List<Object>> longer = new ArrayList<>();
            for (List<Object> inputs : all) {
                for (Object value : BAD.get(type)) {
                    List<Object> more = new ArrayList<>(inputs);
                    more.add(value);
                    longer.add(more);
                }
            }
            all = longer;
        }
        return all;
    }
}

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.Redisson;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * The main class of child JVMs, which run it with Redisson's jar or with ours: calls every method of every kind of lock in every state, and
 * prints what each call gives: {@code kind.method(inputs) state: result}.
 */
public final class Behaviours {
    /** A call that is expected to wait for ever, and has not ended after so long, does; any other call has all the time that it takes. */
    private static final long WAITS_MS = 3_000;
    private static final long ENDS_MS = 60_000;
    private static final int AT_ONCE = 32;
    /** The time that a call may take at a server that lives, and at one that does not. */
    private static final int TIMEOUT_MS = 30_000;
    private static final int SOON_MS = 1_000;
    /** Owners that are no thread of this JVM. */
    private static final long OTHER_THREAD = 1_000_000;
    private static final long WAIT_MS = 4_000;
    private static final long LEASE_MS = 60_000;
    private static final long SHORT_MS = 500;
    private static final String UNKNOWN_PERMIT = "00112233445566778899aabbccddeeff";

    /** The port of the server that lives. */
    private final int port;
    private final Set<String> waiting;
    private final AtomicInteger names = new AtomicInteger();
    private final ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE, Behaviours::daemon);

    /** The inputs of a call: the object, and the id of a permit if the state has one. */
    private static final class Scene {
        final Object object;
        final String permit;

        Scene(Object object, String permit) {
            this.object = object;
            this.permit = permit;
        }
    }

    private interface Kind {
        Object of(RedissonClient client, String name) throws Exception;
    }

    private interface State {
        Scene of(Kind kind, String name) throws Exception;
    }

    private Behaviours(int port, List<String> waiting) {
        this.port = port;
        this.waiting = Set.copyOf(waiting);
    }

    /** @param arguments the port of a server, that of one that is to be stopped, and a file with the calls that are expected to wait */
    public static void main(String... arguments) throws Exception {
        Behaviours behaviours = new Behaviours(Integer.parseInt(arguments[0]), Files.readAllLines(Paths.get(arguments[2])));
        behaviours.all(Integer.parseInt(arguments[1])).forEach((call, result) -> System.out.println("| " + call + " | " + result));
        System.exit(0);
    }

    private Map<String, String> all(int mortalPort) throws Exception {
        String url = "redis://127.0.0.1:" + port;
        String mortal = "redis://127.0.0.1:" + mortalPort;
        RedissonClient client = connect(url, TIMEOUT_MS);
        RedissonClient ofMortal = connect(mortal, SOON_MS);
        RedissonClient leaving = connect(url, TIMEOUT_MS);
        Map<String, State> states = new LinkedHashMap<>();
        states.put("free", (kind, name) -> free(kind.of(client, name)));
        states.put("mine", (kind, name) -> mine(kind.of(client, name)));
        states.put("other's", (kind, name) -> others(kind.of(client, name)));
        states.put("expired", (kind, name) -> expired(kind.of(client, name), name));
        states.put("server down", (kind, name) -> new Scene(kind.of(ofMortal, name), UNKNOWN_PERMIT));
        Map<Kind, Object> left = new HashMap<>();
        states.put("shut down", (kind, name) -> new Scene(left.get(kind), UNKNOWN_PERMIT));
        Map<String, Kind> kinds = kinds();
        for (Kind kind : kinds.values()) {
            left.put(kind, kind.of(leaving, "left"));
        }
        ofMortal.getLock("warm").tryLock(); // connections are open when their servers go
        leaving.getLock("warm-" + leaving.getId()).tryLock();
        try (Resp resp = new Resp(mortalPort)) {
            resp.call("SHUTDOWN", "NOSAVE");
        } catch (RuntimeException | java.io.IOException e) {
            // The server is gone.
        }
        leaving.shutdown();
        Map<String, Future<String>> cells = new TreeMap<>();
        kinds.forEach((kindName, kind) -> {
            for (Method method : methods(kind, client)) {
                states.forEach((stateName, state) -> {
                    String call = kindName + "." + shown(method) + " " + stateName;
                    long patience = waiting.contains(call) ? WAITS_MS : ENDS_MS;
                    cells.put(call, cell(() -> state.of(kind, "b" + names.incrementAndGet()), method, patience));
                });
            }
        });
        Map<String, String> results = new TreeMap<>();
        for (Map.Entry<String, Future<String>> cell : cells.entrySet()) {
            results.put(cell.getKey(), cell.getValue().get());
        }
        return results;
    }

    private static RedissonClient connect(String url, int timeout) {
        Config config = new Config();
        config.useSingleServer().setAddress(url).setTimeout(timeout).setConnectTimeout(timeout).setRetryAttempts(1);
        return Redisson.create(config);
    }

    private static Map<String, Kind> kinds() {
        Map<String, Kind> kinds = new TreeMap<>();
        kinds.put("lock", RedissonClient::getLock);
        kinds.put("spin", RedissonClient::getSpinLock);
        kinds.put("non-reentrant", RedissonClient::getNonReentrantLock);
        kinds.put("fair", RedissonClient::getFairLock);
        kinds.put("non-reentrant fair", RedissonClient::getNonReentrantFairLock);
        kinds.put("fenced", RedissonClient::getFencedLock);
        kinds.put("read", (client, name) -> client.getReadWriteLock(name).readLock());
        kinds.put("write", (client, name) -> client.getReadWriteLock(name).writeLock());
        kinds.put("multi", (client, name) -> client.getMultiLock(client.getLock(name), client.getLock(name + "-2")));
        kinds.put("values", (client, name) -> client.getMultiLock(name, List.of("a", "b")));
        kinds.put("semaphore", RedissonClient::getSemaphore);
        kinds.put("permits", RedissonClient::getPermitExpirableSemaphore);
        kinds.put("latch", RedissonClient::getCountDownLatch);
        return kinds;
    }

    /** The methods of the interfaces that are about locks; other tests have the methods of every object of Redis. */
    private static List<Method> methods(Kind kind, RedissonClient client) {
        try {
            Map<String, Method> methods = new TreeMap<>();
            for (Class<?> type : interfaces(kind.of(client, "none").getClass())) {
                if (type.getSimpleName().matches("(Lock|R\\w*(Lock|Semaphore|Latch)(Async)?)")) {
                    Arrays.stream(type.getDeclaredMethods()).forEach(method -> methods.putIfAbsent(shown(method), method));
                }
            }
            return new ArrayList<>(methods.values());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static Collection<Class<?>> interfaces(Class<?> type) {
        Map<String, Class<?>> all = new TreeMap<>();
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (Class<?> direct : each.getInterfaces()) {
                all.put(direct.getName(), direct);
                interfaces(direct).forEach(inherited -> all.put(inherited.getName(), inherited));
            }
        }
        for (Class<?> direct : type.getInterfaces()) {
            all.put(direct.getName(), direct);
            interfaces(direct).forEach(inherited -> all.put(inherited.getName(), inherited));
        }
        return all.values();
    }

    private static Scene free(Object object) {
        if (object instanceof RSemaphore) {
            ((RSemaphore) object).trySetPermits(2);
        } else if (object instanceof RPermitExpirableSemaphore) {
            ((RPermitExpirableSemaphore) object).trySetPermits(2);
        }
        return new Scene(object, UNKNOWN_PERMIT);
    }

    private static Scene mine(Object object) throws Exception {
        free(object);
        if (object instanceof RLock) {
            ((RLock) object).lock();
        } else if (object instanceof RSemaphore) {
            ((RSemaphore) object).acquire();
        } else if (object instanceof RPermitExpirableSemaphore) {
            return new Scene(object, ((RPermitExpirableSemaphore) object).acquire());
        } else {
            ((RCountDownLatch) object).trySetCount(1);
        }
        return new Scene(object, UNKNOWN_PERMIT);
    }

    private static Scene others(Object object) throws Exception {
        free(object);
        if (object instanceof RLock) {
            ((RLock) object).lockAsync(LEASE_MS, TimeUnit.MILLISECONDS, OTHER_THREAD).toCompletableFuture().get();
        } else if (object instanceof RSemaphore) {
            ((RSemaphore) object).acquire(2);
        } else if (object instanceof RPermitExpirableSemaphore) {
            ((RPermitExpirableSemaphore) object).acquire(2);
        } else {
            ((RCountDownLatch) object).trySetCount(2);
        }
        return new Scene(object, UNKNOWN_PERMIT);
    }

    private Scene expired(Object object, String name) throws Exception {
        String permit = UNKNOWN_PERMIT;
        if (object instanceof RLock) {
            RLock lock = (RLock) object;
            lock.lock(SHORT_MS, TimeUnit.MILLISECONDS);
            Wait.until("the lease has ended", () -> !isThere(name));
        } else if (object instanceof RSemaphore) {
            ((RSemaphore) object).trySetPermits(2, Duration.ofMillis(SHORT_MS));
            Wait.until("the permits are gone", () -> !((RSemaphore) object).isExists());
        } else if (object instanceof RPermitExpirableSemaphore) {
            RPermitExpirableSemaphore semaphore = (RPermitExpirableSemaphore) object;
            semaphore.trySetPermits(2);
            permit = semaphore.acquire(SHORT_MS, TimeUnit.MILLISECONDS);
            Wait.until("the lease has ended", () -> semaphore.availablePermits() == 2);
        } else {
            ((RCountDownLatch) object).trySetCount(1);
            ((RCountDownLatch) object).countDown();
        }
        return new Scene(object, permit);
    }

    private boolean isThere(String name) throws Exception {
        try (Resp resp = new Resp(port)) {
            return !resp.call("EXISTS", name).equals(0L);
        }
    }

    /** The scene is made by the thread that makes the call: it may have to be the owner. */
    private Future<String> cell(Callable<Scene> scene, Method method, long patience) {
        CompletableFuture<String> result = new CompletableFuture<>();
        threads.execute(() -> {
            CompletableFuture<Void> ready = new CompletableFuture<>();
            CompletableFuture<String> called = new CompletableFuture<>();
            daemon(() -> {
                try {
                    Scene made = scene.call();
                    ready.complete(null);
                    called.complete(outcome(made, method, patience));
                } catch (Throwable e) {
                    ready.complete(null);
                    called.complete("no scene: " + e);
                }
            }).start();
            try {
                ready.get(2 * ENDS_MS, TimeUnit.MILLISECONDS);
                result.complete(called.get(patience, TimeUnit.MILLISECONDS));
            } catch (TimeoutException e) {
                result.complete("waits");
            } catch (Exception e) {
                result.complete("no outcome: " + e);
            }
        });
        return result;
    }

    private static String outcome(Scene scene, Method method, long patience) {
        try {
            Object value = method.invoke(scene.object, inputs(method, scene));
            if (value instanceof Future) {
                value = ((Future<?>) value).get(patience, TimeUnit.MILLISECONDS);
            }
            return method.getReturnType() == void.class ? "returns" : shown(value);
        } catch (TimeoutException e) {
            return "waits";
        } catch (ExecutionException | InvocationTargetException e) {
            return "throws " + e.getCause().getClass().getName();
        } catch (Exception e) {
            return "throws " + e.getClass().getName();
        }
    }

    /** Small numbers count something; large ones are times. */
    private static String shown(Object value) {
        if (value instanceof Number && ((Number) value).longValue() > 100) {
            return "a time";
        }
        if (value instanceof Collection) {
            return ((Collection<?>) value).size() + " of them";
        }
        return value instanceof String ? "a text" : String.valueOf(value);
    }

    private static String shown(Method method) {
        StringBuilder inputs = new StringBuilder();
        for (Class<?> type : method.getParameterTypes()) {
            inputs.append(inputs.length() == 0 ? "" : ", ").append(type.getSimpleName());
        }
        return method.getName() + "(" + inputs + ")";
    }

    /** Numbers before a unit are waits and leases, as the method's name says; other ones are thread ids and counts. */
    private static Object[] inputs(Method method, Scene scene) {
        Class<?>[] types = method.getParameterTypes();
        Object[] inputs = new Object[types.length];
        long times = Arrays.asList(types).contains(TimeUnit.class) ? Arrays.asList(types).indexOf(TimeUnit.class)
                - Arrays.stream(types).takeWhile(type -> type != long.class).count() : 0;
        boolean waits = method.getName().matches("(try(Lock|Acquire)|await).*");
        int time = 0;
        for (int i = 0; i < types.length; i++) {
            Class<?> type = types[i];
            if (type == long.class && time < times) {
                inputs[i] = waits && time == 0 ? WAIT_MS : LEASE_MS;
                time++;
            } else {
                inputs[i] = type == long.class ? (method.getName().startsWith("trySetCount") ? 3L : Thread.currentThread().getId())
                        : type == int.class ? (Object) 1
                        : type == TimeUnit.class ? TimeUnit.MILLISECONDS
                        : type == Duration.class ? Duration.ofMillis(waits ? WAIT_MS : LEASE_MS)
                        : type == String.class ? scene.permit
                        : type == List.class ? List.of(scene.permit) : null;
            }
        }
        return inputs;
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }
}

// The Java agent: it runs lock commands that arrive as JSON lines, through org.redisson only, and io.redlatch by reflection. It is compiled against the jar of
// redlatch and against Redisson's, and also runs with older Redissons.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.redisson.Redisson;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

public class Agent {
    private static final List<String> TAKING = Arrays.asList("lock", "try_lock");
    private static final Method HOLD = holdOfOurs();

    private final RedissonClient client;
    private final Terms terms = new Terms();
    private final RedissonClient kryo;

    /** @param kryo a client with Redisson's default codec */
    Agent(RedissonClient client, RedissonClient kryo) {
        this.client = client;
        this.kryo = kryo;
    }

    public static void main(String[] args) throws Exception {
        Agent agent = args[0].startsWith("redis") ? of(Servers.of(args[0])) : of(args[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            agent.take(Lines.fields(line));
        }
        System.exit(0);
    }

    private static Agent of(Config config) {
        RedissonClient kryo = Redisson.create(config);
        return new Agent(Redisson.create(config.setCodec(StringCodec.INSTANCE)), kryo);
    }

    /** An agent of another system, which Redisson does not know. */
    private static Agent of(String url) throws ReflectiveOperationException {
        RedissonClient client = (RedissonClient) Class.forName("io.redlatch.Redlatch").getMethod("connect", String.class).invoke(null, url);
        return new Agent(client, client);
    }

    /** Starts one command and answers when it has ended. Other commands go on meanwhile. */
    private void take(Map<String, String> command) {
        String id = command.get("id");
        try {
            run(command).whenComplete((value, failure) -> {
                if (failure == null) {
                    String ok = "\"ok\":" + (value instanceof String ? Lines.quoted(value.toString()) : value == null ? "true" : value.toString());
                    Lines.answer(id, ok + (TAKING.contains(command.get("do")) && !Boolean.FALSE.equals(value) ? until(command) : ""));
                } else {
                    Lines.fail(id, failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure);
                }
            });
        } catch (RuntimeException e) {
            Lines.fail(id, e);
        }
    }

    /** Until when a new hold is certain, in ns of the machine's clock. Redisson does not know. */
    private String until(Map<String, String> command) {
        if (HOLD == null || command.get("kind").equals("leader")) {
            return "";
        }
        long now = System.nanoTime();
        try {
            Object hold = HOLD.invoke(null, lock(command), owner(command));
            Duration remaining = (Duration) hold.getClass().getMethod("remaining").invoke(hold);
            return ",\"until\":" + (now + remaining.toNanos());
        } catch (InvocationTargetException e) {
            return ",\"until\":" + now; // a short lease may be over by now
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Method holdOfOurs() {
        try {
            return Class.forName("io.redlatch.Holds").getMethod("of", RLock.class, long.class);
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    private static long owner(Map<String, String> command) {
        return Long.parseLong(command.getOrDefault("owner", "0"));
    }

    private CompletionStage<?> run(Map<String, String> command) {
        String what = command.get("do");
        if (what.equals("id")) {
            return CompletableFuture.completedFuture(client.getId());
        }
        if (what.equals("sleepers")) {
            return CompletableFuture.completedFuture(Sleepers.of(object(command), command.get("name")));
        }
        if (command.get("kind").equals("semaphore")) {
            return run(what, client.getSemaphore(command.get("name")), command);
        }
        if (command.get("kind").equals("permit_semaphore")) {
            return run(what, client.getPermitExpirableSemaphore(command.get("name")), command);
        }
        if (command.get("kind").equals("leader")) {
            return terms.run(what, client, command);
        }
        if (command.get("kind").equals("latch")) {
            return run(what, client.getCountDownLatch(command.get("name")), command);
        }
        RLock lock = lock(command);
        long owner = owner(command);
        long lease = Long.parseLong(command.getOrDefault("lease", "-1"));
        String wait = command.get("wait");
        switch (what) {
            case "lock": return lease < 0 ? lock.lockAsync(owner) : lock.lockAsync(lease, TimeUnit.MILLISECONDS, owner);
            case "try_lock": return wait == null && lease < 0
                    ? lock.tryLockAsync(owner)
                    : lock.tryLockAsync(wait == null ? 0 : Long.parseLong(wait), lease, TimeUnit.MILLISECONDS, owner);
            case "unlock": return lock.unlockAsync(owner);
            case "force_unlock": return lock.forceUnlockAsync();
            case "is_locked": return lock.isLockedAsync();
            case "is_held": return lock.isHeldByThreadAsync(owner);
            case "token": return ((RFencedLock) lock).getTokenAsync();
            case "ttl": return lock.remainTimeToLiveAsync();
            default: throw new IllegalArgumentException("no command `" + what + "`");
        }
    }

    @SuppressWarnings("deprecation") // older Redissons have no other method
    private static CompletionStage<?> run(String what, RSemaphore semaphore, Map<String, String> command) {
        int n = Integer.parseInt(command.getOrDefault("n", "1"));
        String wait = command.get("wait");
        switch (what) {
            case "try_set": return semaphore.trySetPermitsAsync(n);
            case "take": return wait == null
                    ? semaphore.acquireAsync(n)
                    : semaphore.tryAcquireAsync(n, Long.parseLong(wait), TimeUnit.MILLISECONDS);
            case "give": return semaphore.releaseAsync(n);
            case "add": return semaphore.addPermitsAsync(n);
            case "drain": return semaphore.drainPermitsAsync();
            case "count": return semaphore.availablePermitsAsync();
            default: throw new IllegalArgumentException("no command `" + what + "`");
        }
    }

    private static CompletionStage<?> run(String what, RPermitExpirableSemaphore semaphore, Map<String, String> command) {
        int n = Integer.parseInt(command.getOrDefault("n", "1"));
        long lease = Long.parseLong(command.getOrDefault("lease", "-1"));
        List<String> ids = Arrays.asList(command.getOrDefault("ids", "").split(","));
        String wait = command.get("wait");
        TimeUnit ms = TimeUnit.MILLISECONDS;
        switch (what) {
            case "take":
                CompletionStage<List<String>> taking = wait == null
                        ? semaphore.acquireAsync(n, lease, ms)
                        : lease < 0 && wait.equals("0")
                                ? semaphore.tryAcquireAsync(n)
                                : semaphore.tryAcquireAsync(n, Long.parseLong(wait), lease, ms);
                return taking.thenApply(taken -> taken == null ? "" : String.join(",", taken));
            case "give": return semaphore.tryReleaseAsync(ids).thenApply(count -> count == ids.size());
            case "extend": return semaphore.updateLeaseTimeAsync(ids.get(0), lease, ms);
            case "left": return semaphore.getLeaseTimeAsync(ids.get(0));
            case "try_set": return semaphore.trySetPermitsAsync(n);
            case "set": return semaphore.setPermitsAsync(n);
            case "add": return semaphore.addPermitsAsync(n);
            case "count": return semaphore.availablePermitsAsync();
            case "out": return semaphore.acquiredPermitsAsync();
            case "all": return semaphore.getPermitsAsync();
            default: throw new IllegalArgumentException("no command `" + what + "`");
        }
    }

    private static CompletionStage<?> run(String what, RCountDownLatch latch, Map<String, String> command) {
        String wait = command.get("wait");
        switch (what) {
            case "try_set": return latch.trySetCountAsync(Long.parseLong(command.getOrDefault("n", "1")));
            case "take": return wait == null ? latch.awaitAsync() : latch.awaitAsync(Long.parseLong(wait), TimeUnit.MILLISECONDS);
            case "count_down": return latch.countDownAsync();
            case "count": return latch.getCountAsync();
            default: throw new IllegalArgumentException("no command `" + what + "`");
        }
    }

    @SuppressWarnings("deprecation") // Redisson's red lock is
    private RLock lock(Map<String, String> command) {
        String name = command.get("name");
        switch (command.get("kind")) {
            case "all": return client.getMultiLock(three(name));
            case "majority": return client.getRedLock(three(name));
            case "multi": return (name.startsWith("kryo") ? kryo : client).getMultiLock(name, Arrays.asList("one", "zwölf"));
            default: return (RLock) got(command.get("getter").split("\\."), name);
        }
    }

    /** The object of a getter, and from there on of its parts: {@code get_read_write_lock}, then {@code read_lock}. */
    private Object got(String[] getters, String name) {
        try {
            Method method = getter(camel(getters[0]));
            Object object = Modifier.isStatic(method.getModifiers()) ? method.invoke(null, client, name) : method.invoke(client, name);
            for (String part : Arrays.asList(getters).subList(1, getters.length)) {
                method = method.getReturnType().getMethod(camel(part));
                object = method.invoke(object);
            }
            return object;
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("no getter `" + String.join(".", getters) + "`", e);
        }
    }

    /** The client's method; a kind that Redisson does not have has a class instead: {@code TokenLock.of} in place of {@code getTokenLock}. */
    private static Method getter(String name) throws ReflectiveOperationException {
        try {
            return RedissonClient.class.getMethod(name, String.class);
        } catch (NoSuchMethodException e) {
            Class<?> ours = Class.forName("io.redlatch." + name.substring("get".length()));
            return ours.getMethod("of", RedissonClient.class, String.class);
        }
    }

    private static String camel(String words) {
        return Pattern.compile("_(.)").matcher(words).replaceAll(letter -> letter.group(1).toUpperCase(Locale.ROOT));
    }

    private RLock[] three(String name) {
        return new RLock[] {client.getLock(name + "a"), client.getLock(name + "b"), client.getLock(name + "c")};
    }

    private Object object(Map<String, String> command) {
        switch (command.get("kind")) {
            case "semaphore":
            case "permit_semaphore":
            case "latch": return got(command.get("getter").split("\\."), command.get("name"));
            default: return lock(command);
        }
    }
}

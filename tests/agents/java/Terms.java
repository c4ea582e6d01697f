import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.api.RedissonClient;

/** The terms in which an agent leads, by name and owner. Redisson has no leaders, so {@code io.redlatch.Leader} comes by reflection. */
final class Terms {
    private static final Duration FOR_EVER = Duration.ofDays(1);

    private final Map<String, AutoCloseable> terms = new ConcurrentHashMap<>();

    /** Leads, or resigns. True: it does. */
    CompletableFuture<Boolean> run(String what, RedissonClient client, Map<String, String> command) {
        String owner = command.get("name") + " " + command.get("owner");
        if (what.equals("unlock")) {
            return apart(() -> {
                terms.remove(owner).close();
                return true;
            });
        }
        Duration wait = what.equals("lock") ? FOR_EVER : Duration.ofMillis(Long.parseLong(command.getOrDefault("wait", "0")));
        return apart(() -> {
            Optional<AutoCloseable> term = lead(client, command.get("name"), wait);
            term.ifPresent(led -> terms.put(owner, led));
            return term.isPresent();
        });
    }

    @SuppressWarnings("unchecked")
    private static Optional<AutoCloseable> lead(RedissonClient client, String name, Duration wait) throws Exception {
        Class<?> leaders = Class.forName("io.redlatch.Leader");
        Object leader = leaders.getMethod("of", RedissonClient.class, String.class, String.class).invoke(null, client, name, "java");
        return (Optional<AutoCloseable>) leaders.getMethod("tryLead", Duration.class).invoke(leader, wait);
    }

    /** Runs work that waits on a thread of its own. */
    private static CompletableFuture<Boolean> apart(Callable<Boolean> work) {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(work.call());
            } catch (InvocationTargetException e) {
                result.completeExceptionally(e.getCause());
            } catch (Exception e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }
}

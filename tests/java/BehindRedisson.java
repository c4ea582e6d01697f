import io.redlatch.Holds;
import io.redlatch.Job;
import io.redlatch.Lease;
import io.redlatch.Options;
import io.redlatch.Redlatch;
import io.redlatch.TokenLock;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The main class of a child JVM: uses redlatch's own classes with objects of the org.redisson classes that come first on the class path. */
public final class BehindRedisson {
    static final long CALLS = 13;

    private BehindRedisson() {}

    public static void main(String... arguments) throws Exception {
        RLock lock = another(RLock.class);
        RedissonClient client = another(RedissonClient.class);
        List<Callable<?>> calls = List.of(() -> Holds.of(lock), () -> Holds.of(lock, 1), () -> Lease.lock(lock),
                () -> Lease.lock(lock, Duration.ofSeconds(9)), () -> Lease.tryLock(lock, Duration.ZERO),
                () -> Lease.tryLock(lock, Duration.ZERO, Duration.ofSeconds(9)), () -> TokenLock.of(client, "token"),
                () -> Job.of(client, "job", Duration.ofSeconds(9)),
                () -> Options.releaseOnShutdown(client), () -> Options.releaseOnShutdown(new Config()), () -> Options.quarantine(new Config()),
                () -> Options.turn(new Config(), Duration.ZERO), () -> Redlatch.connect("redis://127.0.0.1:1"));
        for (Callable<?> call : calls) {
            try {
                System.out.println("nothing thrown: " + call.call());
            } catch (Throwable e) {
                System.out.println(e);
            }
        }
    }

    private static <T> T another(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, inputs) -> null));
    }
}

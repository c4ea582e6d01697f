import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import org.redisson.api.RLock;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;

/** Calls that are tried for as long as a configuration says. */
final class RetriedCalls {
    /** Far more than any bound that is set in a test: a call that takes so long is not bounded. */
    static final Duration HANGS = Duration.ofSeconds(25);
    static final int FOR_EVER = 3_600_000;

    private RetriedCalls() {
    }

    /** All in ms, but for the attempts. */
    static Config config(TestServer server, int timeout, int attempts, int delay) {
        Config config = new Config();
        config.useSingleServer().setAddress(server.url()).setTimeout(timeout).setConnectTimeout(20_000).setRetryAttempts(attempts)
                .setRetryDelay(new ConstantDelay(Duration.ofMillis(delay)));
        return config;
    }

    /** A call through the caller's connection, and one through that of the I/O thread. */
    static List<Callable<Boolean>> calls(RLock lock) {
        return List.of(lock::tryLock, () -> lock.tryLock(FOR_EVER, SECONDS), lock::isLocked, lock::forceUnlock,
                () -> lock.tryLockAsync(7).get(), () -> lock.isLockedAsync().get());
    }

    static void assertFailure(Class<? extends Throwable> type, Callable<Boolean> call) {
        Throwable error = assertThrows(Exception.class, call::call);
        assertInstanceOf(type, error instanceof ExecutionException ? error.getCause() : error);
    }
}

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Options;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.ObjLongConsumer;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.config.Config;

/** The times of a configuration at their least and at their most: locks work, or the server is too slow for it, or creating a client names it. */
class ExtremesTest extends LockTest {
    private static final long YEAR = Duration.ofDays(365).toMillis();
    private static final Map<String, ObjLongConsumer<Config>> TIMES = Map.of(
            "lockWatchdogTimeout", (config, ms) -> config.setLockWatchdogTimeout(ms),
            "fairLockWaitTimeout", (config, ms) -> config.setFairLockWaitTimeout(ms),
            "turn", (config, ms) -> Options.turn(config, Duration.ofMillis(ms)),
            "slavesSyncTimeout", (config, ms) -> config.setSlavesSyncTimeout(ms),
            "timeout", (config, ms) -> config.useSingleServer().setTimeout((int) ms),
            "connectTimeout", (config, ms) -> config.useSingleServer().setConnectTimeout((int) ms));
    private static final Map<String, List<Long>> WORKING = Map.of(
            "lockWatchdogTimeout", List.of(100L, YEAR),
            "fairLockWaitTimeout", List.of(0L, YEAR),
            "turn", List.of(0L, 1L, YEAR),
            "slavesSyncTimeout", List.of(0L, 1L, YEAR),
            "timeout", List.of(1L, 9L, (long) Integer.MAX_VALUE),
            "connectTimeout", List.of(1L, (long) Integer.MAX_VALUE));
    private static final Map<String, List<Long>> REFUSED = Map.of(
            "lockWatchdogTimeout", List.of(Long.MIN_VALUE, 0L, 99L, YEAR + 1, Long.MAX_VALUE),
            "fairLockWaitTimeout", List.of(Long.MIN_VALUE, -1L, YEAR + 1, Long.MAX_VALUE),
            "turn", List.of(-YEAR, -1L, YEAR + 1, 2 * YEAR),
            "timeout", List.of((long) Integer.MIN_VALUE, -1L, 0L),
            "connectTimeout", List.of((long) Integer.MIN_VALUE, -1L, 0L));

    @Test
    void a_time_at_its_extremes_works_or_the_server_is_too_slow_for_it() {
        WORKING.forEach((setting, times) -> times.forEach(ms ->
                assertTimeoutPreemptively(Duration.ofSeconds(60), () -> use(with(setting, ms)), () -> setting + " " + ms)));
    }

    private void use(Config config) throws InterruptedException {
        RedissonClient made;
        try {
            made = Redisson.create(config);
        } catch (RedisException tooSlow) {
            return;
        }
        for (RLock used : List.of(made.getLock(name), made.getFairLock(name + "-fair"))) {
            try {
                used.lock();
                used.unlock();
                assertTrue(used.tryLock(1, 20_000, MILLISECONDS));
                used.unlock();
            } catch (RedisException tooSlow) {
                // The client gives back later what an unanswered call took.
            }
        }
        made.shutdown();
    }

    @Test
    void a_time_beyond_its_extremes_is_refused_by_its_name() {
        REFUSED.forEach((setting, times) -> times.forEach(ms -> {
            Throwable error = assertThrows(IllegalArgumentException.class, () -> Redisson.create(with(setting, ms)), () -> setting + " " + ms);
            assertTrue(error.getMessage().contains(setting) && error.getMessage().contains(String.valueOf(ms)), error.getMessage());
        }));
    }

    private Config with(String setting, long ms) {
        Config config = server.config();
        TIMES.get(setting).accept(config, ms);
        return config;
    }
}

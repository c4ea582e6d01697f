import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.redlatch.LockMetrics;
import io.redlatch.LostReason;
import io.redlatch.Stats;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.RedissonShutdownException;

/** The figures of a client as meters of Micrometer. */
class LockMetricsTest extends LockTest {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @BeforeEach
    void bind() {
        new LockMetrics(client, Tags.of("client", "one")).bindTo(registry);
    }

    private double acquires(String outcome) {
        return registry.get("redlatch.acquires").tags("client", "one", "outcome", outcome).functionCounter().count();
    }

    private double losses(LostReason reason) {
        return registry.get("redlatch.losses").tag("reason", reason.toString()).functionCounter().count();
    }

    @Test
    void the_meters_follow_the_figures() throws Exception {
        lock.lock();
        assertEquals(1, registry.get("redlatch.holds").gauge().value());
        Worker.elsewhere(() -> client.getLock(name).tryLock(20, TimeUnit.MILLISECONDS));
        lock.unlock();
        lock.lock();
        server.call("DEL", name);
        Wait.until("the loss is known", () -> Stats.of(client).held() == 0);
        assertEquals(2, acquires("acquired"));
        assertEquals(1, acquires("not acquired"));
        assertEquals(0, acquires("failed") + acquires("cancelled"));
        FunctionTimer wait = registry.get("redlatch.wait").functionTimer();
        assertTrue(wait.count() == 3 && wait.totalTime(TimeUnit.MILLISECONDS) >= 20, wait.count() + " " + wait.totalTime(TimeUnit.MILLISECONDS));
        FunctionTimer hold = registry.get("redlatch.hold").functionTimer();
        assertTrue(hold.count() == 2 && hold.totalTime(TimeUnit.NANOSECONDS) > 0, hold.count() + " " + hold.totalTime(TimeUnit.NANOSECONDS));
        for (LostReason reason : LostReason.values()) {
            assertEquals(reason == LostReason.DELETED ? 1 : 0, losses(reason), reason.toString());
        }
        assertEquals(0, registry.get("redlatch.renewals.failed").functionCounter().count());
        assertEquals(0, registry.get("redlatch.waiting").gauge().value());
    }

    @Test
    void after_the_shutdown_of_the_client_the_meters_keep_their_last_figures() {
        lock.lock();
        lock.unlock();
        assertEquals(1, acquires("acquired"));
        client.shutdown();
        assertEquals(1, acquires("acquired"));
        assertEquals(0, registry.get("redlatch.holds").gauge().value());
        assertThrows(RedissonShutdownException.class, () -> new LockMetrics(client));
    }

    @Test
    void the_page_has_each_meter() throws Exception {
        Set<String> documented = new TreeSet<>();
        Matcher rows = Pattern.compile("(?m)^\\| `(redlatch\\.[a-z.]+)`.*\\| (gauge|timer|counter) \\|").matcher(Files.readString(Path.of("docs/java.md")));
        while (rows.find()) {
            documented.add(rows.group(1));
        }
        Set<String> bound = new TreeSet<>();
        registry.getMeters().stream().map(Meter::getId).forEach(id -> bound.add(id.getName()));
        assertEquals(bound, documented);
    }
}

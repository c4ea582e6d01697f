import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Job;
import io.redlatch.JobOutcome;
import io.redlatch.JobRun;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** Jobs of nodes with ShedLock, on its own provider of Redis, beside jobs of this library. */
class JobsBesideTest extends LockTest {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration LEAST = Duration.ofSeconds(50);

    private JedisConnectionFactory connections;
    private LockProvider shedLock;
    private String key;

    @BeforeEach
    void connectBeside() {
        connections = new JedisConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", server.port()));
        connections.afterPropertiesSet();
        connections.start();
        shedLock = new RedisLockProvider(connections);
        key = "job-lock:default:" + name;
    }

    @AfterEach
    void disconnectBeside() {
        connections.destroy();
    }

    private Optional<SimpleLock> take(Duration atMost, Duration atLeast) {
        return shedLock.lock(new LockConfiguration(Instant.now(), name, atMost, atLeast));
    }

    private JobOutcome run(Duration atLeast) {
        return Job.of(client, name, LONG).atLeast(atLeast).run(() -> {}).outcome();
    }

    private void assertLeftOfLeast() throws Exception {
        long left = (Long) server.call("PTTL", key);
        assertTrue(left > 30_000 && left <= LEAST.toMillis(), left + " ms are left");
    }

    @Test
    void while_a_job_runs_here_shedlock_skips_it() throws Exception {
        JobRun<Boolean> run = Job.of(client, name, LONG).call(() -> take(LONG, Duration.ZERO).isPresent());
        assertEquals(JobOutcome.RAN, run.outcome());
        assertEquals(Optional.of(false), run.value());
        Optional<SimpleLock> after = take(LONG, Duration.ZERO);
        assertTrue(after.isPresent());
        after.get().unlock();
    }

    @Test
    void while_shedlock_runs_a_job_it_is_skipped_here() throws Exception {
        SimpleLock theirs = take(LONG, Duration.ZERO).get();
        assertEquals(1L, server.call("EXISTS", key));
        assertEquals(JobOutcome.SKIPPED, run(Duration.ZERO));
        theirs.unlock();
        assertEquals(JobOutcome.RAN, run(Duration.ZERO));
    }

    @Test
    void both_heed_the_least_time_of_the_other() throws Exception {
        assertEquals(JobOutcome.RAN, run(LEAST));
        assertLeftOfLeast();
        assertFalse(take(LONG, Duration.ZERO).isPresent());
        server.call("DEL", key);
        take(LONG, LEAST).get().unlock();
        assertLeftOfLeast();
        assertEquals(JobOutcome.SKIPPED, run(Duration.ZERO));
    }

    /** Without `safeUpdate`, which this version does not have yet. */
    @Test
    void a_run_whose_key_shedlock_deletes_after_its_own_time_is_lost() {
        Duration brief = Duration.ofMillis(20);
        SimpleLock theirs = take(brief, Duration.ZERO).get();
        JobRun<Integer> run;
        do {
            run = Job.of(client, name, LONG).call(hold -> {
                theirs.unlock();
                return 7;
            });
        } while (run.outcome() == JobOutcome.SKIPPED);
        assertEquals(JobOutcome.LOST, run.outcome());
    }
}

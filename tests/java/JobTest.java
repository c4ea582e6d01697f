import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Job;
import io.redlatch.JobOutcome;
import io.redlatch.JobRun;
import io.redlatch.JobStats;
import io.redlatch.LockLostException;
import io.redlatch.LostReason;
import io.redlatch.Redlatch;
import io.redlatch.Stats;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.RedissonShutdownException;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.config.Config;

/** Jobs: of all nodes one runs each period, and a run that loses its lock is told. */
class JobTest extends LockTest {
    private static final Duration LONG = Duration.ofMinutes(10);

    private RedissonClient other;
    private String key;
    private Job here;
    private Job there;
    /** Right only while one thread at a time counts. */
    private volatile int unguarded;

    @BeforeEach
    void make() {
        other = server.connect();
        key = "job-lock:default:" + name;
        here = Job.of(client, name, LONG);
        there = Job.of(other, name, LONG);
    }

    @AfterEach
    void end() {
        other.shutdown();
    }

    private static JobOutcome outcome(Job job) {
        return job.run(() -> {}).outcome();
    }

    private static List<Long> counts(Job job) {
        JobStats stats = job.stats();
        return List.of(stats.ran(), stats.skipped(), stats.lost());
    }

    private long left() throws IOException {
        return (Long) server.call("PTTL", key);
    }

    private boolean isThere() throws IOException {
        return server.call("EXISTS", key).equals(1L);
    }

    @Test
    void one_node_runs_and_the_others_skip_until_it_ends() throws Exception {
        assertEquals(name, here.getName());
        JobRun<String> run = here.call(hold -> {
            hold.ensure();
            assertTrue(isThere());
            assertEquals(JobOutcome.SKIPPED, outcome(there));
            assertEquals(JobOutcome.SKIPPED, outcome(here), "it does not run inside itself");
            JobRun<Integer> skipped = there.call(() -> 1);
            assertEquals(List.of(Optional.empty(), Optional.empty()), List.of(skipped.value(), skipped.loss()));
            assertEquals(JobOutcome.RAN, outcome(there.env("test")), "another environment");
            return "done";
        });
        assertEquals(JobOutcome.RAN, run.outcome());
        assertEquals(Optional.of("done"), run.value());
        assertEquals(Optional.empty(), run.loss());
        assertFalse(isThere(), "without atLeast the job is free at once");
        JobRun<Void> next = there.run(() -> {});
        assertEquals(List.of(JobOutcome.RAN, Optional.empty()), List.of(next.outcome(), next.value()));
        assertEquals(List.of(1L, 1L, 0L), counts(here));
        assertEquals(List.of(1L, 2L, 0L), counts(there));
        assertEquals("JobStats[ran=1, skipped=2, lost=0]", there.stats().toString());
        assertEquals(List.of(0L, 0L, 0L), counts(there.atLeast(Duration.ZERO)), "each object counts for itself");
    }

    @Test
    void the_key_of_a_run_that_has_ended_stays_for_what_is_missing_of_at_least() throws Exception {
        long begun = System.nanoTime();
        JobRun<Void> run = here.atLeast(Duration.ofSeconds(50)).run(() -> LockSupport.parkNanos(Duration.ofMillis(700).toNanos()));
        assertEquals(JobOutcome.RAN, run.outcome());
        long left = left();
        long took = Duration.ofNanos(System.nanoTime() - begun).toMillis();
        assertTrue(left >= 49_990 - took && left < 50_000, left + " ms are left after " + took + " ms");
        assertEquals(JobOutcome.SKIPPED, outcome(there));
        assertEquals(JobOutcome.SKIPPED, outcome(here));
        assertEquals(0, Stats.of(client).held(), "the client has nothing to renew");
        client.shutdown();
        assertTrue(isThere());
    }

    @Test
    void a_job_may_be_kept_for_as_long_as_at_most() throws Exception {
        assertEquals(JobOutcome.RAN, outcome(here.atLeast(LONG)));
        long left = left();
        assertTrue(left > 570_000 && left <= 600_000, left + " ms are left");
    }

    @Test
    void a_run_that_takes_longer_than_at_most_is_renewed() throws Exception {
        JobRun<Integer> run = Job.of(client, name, Duration.ofMillis(1500)).call(hold -> {
            int looks = 0;
            for (long begun = System.nanoTime(); System.nanoTime() - begun < SECONDS.toNanos(4); looks++) {
                hold.ensure();
                assertTrue(isThere());
                assertEquals(JobOutcome.SKIPPED, outcome(there));
            }
            return looks;
        });
        assertEquals(JobOutcome.RAN, run.outcome());
        assertTrue(run.value().get() > 1);
        assertFalse(isThere());
    }

    @Test
    void a_run_whose_key_another_program_has_taken_is_lost_and_its_end_leaves_that_key() throws Exception {
        for (Duration atLeast : new Duration[] {Duration.ZERO, Duration.ofSeconds(30)}) {
            Job job = here.atLeast(atLeast);
            JobRun<Integer> run = job.call(() -> {
                server.call("DEL", key);
                assertEquals("OK", server.call("SET", key, "ADDED:of another program", "NX", "PX", "60000"));
                return 7;
            });
            assertEquals(JobOutcome.LOST, run.outcome());
            assertEquals(Optional.of(7), run.value(), "the work ran to its end");
            LostReason reason = run.loss().get().reason();
            assertTrue(EnumSet.of(LostReason.TAKEN_OVER, LostReason.DELETED).contains(reason), reason.toString());
            assertTrue(run.toString().contains(key), run.toString());
            assertEquals("ADDED:of another program", server.call("GET", key));
            assertTrue(left() > 30_000);
            assertEquals(List.of(0L, 0L, 1L), counts(job));
            server.call("DEL", key);
        }
    }

    @Test
    void work_hears_of_a_loss_while_it_runs() throws Exception {
        Job job = Job.of(client, name, Duration.ofMillis(900));
        CompletableFuture<LockLostException> told = new CompletableFuture<>();
        JobRun<LockLostException> run = job.call(hold -> {
            hold.onLost(told::complete);
            server.call("DEL", key);
            LockLostException loss = told.get(20, SECONDS);
            assertThrows(LockLostException.class, hold::ensure);
            return loss;
        });
        assertEquals(JobOutcome.LOST, run.outcome());
        assertEquals(run.value().get().reason(), run.loss().get().reason());
        assertEquals(List.of(0L, 0L, 1L), counts(job));
    }

    @Test
    void an_exception_of_the_work_reaches_the_caller_and_at_least_counts() throws Exception {
        Job job = here.atLeast(Duration.ofSeconds(50));
        IOException failure = new IOException("on purpose");
        assertSame(failure, assertThrows(IOException.class, () -> job.call(() -> {
            throw failure;
        })));
        assertEquals(0, failure.getSuppressed().length);
        long left = left();
        assertTrue(left > 30_000 && left <= 50_000, left + " ms are left");
        assertEquals(JobOutcome.SKIPPED, outcome(job));
        assertEquals(List.of(1L, 1L, 0L), counts(job));
        server.call("DEL", key);
        assertThrows(StackOverflowError.class, () -> here.run(() -> {
            throw new StackOverflowError("on purpose");
        }));
        assertFalse(isThere());
    }

    @Test
    void an_exception_after_a_loss_has_the_loss_with_it() {
        IllegalStateException failure = assertThrows(IllegalStateException.class, () -> here.run(() -> {
            delete();
            throw new IllegalStateException("on purpose");
        }));
        assertInstanceOf(LockLostException.class, failure.getSuppressed()[0]);
        LockLostException loss = assertThrows(LockLostException.class, () -> here.call(hold -> {
            delete();
            Wait.until("the loss is known", hold::isLost);
            hold.ensure();
            return null;
        }));
        assertEquals(0, loss.getSuppressed().length, "it tells of itself");
        assertEquals(List.of(0L, 0L, 2L), counts(here));
    }

    private void delete() {
        try {
            server.call("DEL", key);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void an_interrupt_leaves_no_hold_and_its_flag_stays() throws Exception {
        Worker<JobOutcome> worker = Worker.start(() -> {
            Thread.currentThread().interrupt();
            JobOutcome outcome = here.call(() -> {
                assertThrows(InterruptedException.class, () -> Thread.sleep(20_000));
                Thread.currentThread().interrupt();
                return null;
            }).outcome();
            assertTrue(Thread.currentThread().isInterrupted());
            assertFalse(isThere());
            InterruptedException ended = assertThrows(InterruptedException.class, () -> here.atLeast(LONG).call(() -> {
                Thread.sleep(20_000);
                return null;
            }));
            assertEquals(0, ended.getSuppressed().length);
            assertTrue(isThere());
            return outcome;
        });
        assertEquals(JobOutcome.RAN, worker.get());
        assertEquals(0, Stats.of(client).held());
    }

    @Test
    void threads_share_a_job_and_one_runs_at_a_time() throws Exception {
        List<Worker<Void>> workers = new ArrayList<>();
        for (Job job : new Job[] {here, here, there, there}) {
            workers.add(Worker.start(() -> {
                for (int i = 0; i < 200; i++) {
                    job.run(this::countUnguarded);
                }
                return null;
            }));
        }
        for (Worker<Void> worker : workers) {
            worker.get();
        }
        assertEquals(unguarded, here.stats().ran() + there.stats().ran());
        assertEquals(800 - unguarded, here.stats().skipped() + there.stats().skipped());
    }

    private void countUnguarded() {
        int before = unguarded;
        Thread.yield();
        unguarded = before + 1;
    }

    @Test
    void a_thousand_periods_run_once_each() throws Exception {
        Job ours = here.atLeast(LONG);
        Job theirs = there.atLeast(LONG);
        AtomicInteger ran = new AtomicInteger();
        for (int period = 1; period <= 1000; period++) {
            Worker<JobRun<Void>> elsewhere = Worker.start(() -> theirs.run(ran::incrementAndGet));
            ours.run(ran::incrementAndGet);
            elsewhere.get();
            assertEquals(period, ran.get());
            server.call("DEL", key);
        }
        assertEquals(List.of(1000L, 1000L), List.of(ours.stats().ran() + theirs.stats().ran(), ours.stats().skipped() + theirs.stats().skipped()));
    }

    @Test
    void a_job_that_cannot_be_is_refused_with_a_remedy() {
        assertRefused("at least PT6S and at most PT5S; let atLeast be no longer than atMost",
                () -> Job.of(client, name, Duration.ofSeconds(5)).atLeast(Duration.ofSeconds(6)));
        assertRefused("is PT-1S; give zero or more", () -> here.atLeast(Duration.ofSeconds(-1)));
        assertRefused("the name of a job is empty; give", () -> Job.of(client, "", LONG));
        assertRefused("the environment of the job `" + name + "` is empty; give", () -> here.env(""));
        assertRefused("is PT0S; give 100 ms or more", () -> Job.of(client, name, Duration.ZERO));
        assertRefused("is PT-1S; give 100 ms or more", () -> Job.of(client, name, Duration.ofSeconds(-1)));
        assertRefused("has no Job; use a client of this library", () -> Job.of(null, name, LONG));
        assertRefused("lease", () -> outcome(Job.of(client, name, Duration.ofSeconds(Long.MAX_VALUE))));
        for (Executable call : new Executable[] {() -> Job.of(client, null, LONG), () -> Job.of(client, name, null), () -> here.atLeast(null),
                () -> here.env(null), () -> here.run(null)}) {
            assertThrows(NullPointerException.class, call);
        }
        assertEquals(List.of(0L, 0L, 0L), counts(here));
    }

    private static void assertRefused(String text, Executable call) {
        String message = assertThrows(IllegalArgumentException.class, call).getMessage();
        assertTrue(message.contains(text), message);
    }

    @Test
    void only_redis_has_jobs() throws Exception {
        RedissonClient sql = Redlatch.connect(TestMariadb.shared().url());
        String message = assertThrows(UnsupportedOperationException.class, () -> Job.of(sql, name, LONG)).getMessage();
        assertTrue(message.contains("kind token"), message);
        sql.shutdown();
    }

    @Test
    void the_name_mapper_of_the_client_has_the_name_of_the_lock() {
        RedissonClient shop = Redisson.create(server.config().setNameMapper(new ShopNames()));
        Job.of(shop, name, LONG).env("prod").run(() -> {
            try {
                assertEquals(1L, server.call("EXISTS", "shop:job-lock:prod:" + name));
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        shop.shutdown();
    }

    @Test
    void a_key_of_another_type_is_an_error_and_no_run() throws Exception {
        server.call("HSET", key, "field", "1");
        assertThrows(RedisException.class, () -> outcome(here));
        assertEquals(List.of(0L, 0L, 0L), counts(here));
        server.call("DEL", key);
    }

    @Test
    void a_server_that_is_gone_is_an_error_at_the_beginning_and_none_at_the_end() throws Exception {
        try (TestServer own = TestServer.start()) {
            Config config = new Config();
            config.useSingleServer().setAddress(own.url()).setTimeout(300).setRetryAttempts(0);
            RedissonClient cut = Redisson.create(config);
            Job job = Job.of(cut, name, Duration.ofSeconds(3)).atLeast(Duration.ofSeconds(1));
            JobRun<Integer> run = job.call(() -> {
                own.freeze();
                return 5;
            });
            assertEquals(List.of(JobOutcome.RAN, Optional.of(5)), List.of(run.outcome(), run.value()));
            own.stop();
            assertThrows(RedisException.class, () -> outcome(job));
            assertEquals(List.of(1L, 0L, 0L), counts(job));
            cut.shutdown();
        }
    }

    @Test
    void a_run_whose_server_is_silent_for_longer_than_at_most_is_lost() throws Exception {
        try (TestServer own = TestServer.start()) {
            Config config = new Config();
            config.useSingleServer().setAddress(own.url()).setTimeout(300).setRetryAttempts(0);
            RedissonClient cut = Redisson.create(config);
            Job job = Job.of(cut, name, Duration.ofSeconds(1));
            JobRun<Integer> run = job.call(hold -> {
                own.freeze();
                Wait.until("the hold is lost", hold::isLost);
                return 5;
            });
            assertEquals(List.of(JobOutcome.LOST, Optional.of(5)), List.of(run.outcome(), run.value()));
            assertTrue(EnumSet.of(LostReason.PARTITIONED, LostReason.EXPIRED).contains(run.loss().get().reason()), run.toString());
            own.thaw();
            Wait.until("its key has ended", () -> outcome(job) == JobOutcome.RAN);
            cut.shutdown();
        }
    }

    @Test
    void the_shutdown_of_a_client_ends_the_locks_of_its_runs() throws Exception {
        JobRun<Void> run = there.run(other::shutdown);
        assertEquals(JobOutcome.LOST, run.outcome());
        assertEquals(LostReason.CLOSED, run.loss().get().reason());
        assertThrows(RedissonShutdownException.class, () -> outcome(there));
        assertEquals(List.of(0L, 0L, 1L), counts(there));
    }

    @Test
    void the_block_of_the_page_runs(@TempDir Path directory) throws Exception {
        Matcher block = Pattern.compile("(?ms)^## Jobs$.*?^```java\n(.*?)^```$").matcher(Files.readString(Path.of("docs/java.md")));
        assertTrue(block.find());
        String text = block.group(1).replace("redis://localhost:6379", server.url()).replace("\"report\"", "\"" + name + "\"");
        assertTrue(!text.contains("localhost") && text.contains(name), text);
        Path source = Files.writeString(directory.resolve("Page.java"), "import io.redlatch.*;\nimport java.time.Duration;\nimport org.redisson.api.*;\n\n"
                + "public final class Page {\n    static int send() { return 7; }\n    public static void main(String[] arguments) {\n" + text + "    }\n}\n");
        assertEquals(List.of("the report is sent", "RAN", "SKIPPED", "JobStats[ran=1, skipped=1, lost=0]", "ended by itself"),
                EnginesPageTest.run(directory, source, "Page"));
    }
}

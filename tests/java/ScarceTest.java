import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A JVM that is out of threads, or of memory, for a moment. */
class ScarceTest extends LockTest {
    private static final String[] SMALL = {"-XX:+UseSerialGC", "-Xmx24m", "-XX:CompressedClassSpaceSize=32m",
            "-XX:ReservedCodeCacheSize=32m", "-Xss4m", "-Xlog:disable"};
    /** The address space of the process, which has room for a few hundred stacks of that size. */
    private static final int LIMIT_KB = 3_000_000;

    /** The memory that is too little for a further thread is enough for everything else. The JVM's own threads neither come nor go. */
    private static final String[] HUGE_STACKS = {"-Xss64m", "-XX:-UseDynamicNumberOfCompilerThreads"};

    @Test
    void answers_that_come_while_the_system_has_no_thread_arrive_later() throws Exception {
        assertEquals("alive", run("threads", "ulimit -v " + LIMIT_KB + " && exec \"$@\""));
    }

    @Test
    void answers_that_come_while_the_heap_is_full_arrive_later() throws Exception {
        assertEquals("alive", run("memory", "exec \"$@\""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"continuation", "loss"})
    void a_callback_gets_the_answer_it_waits_for_while_the_system_has_no_thread_for_the_next_callback(String next) throws Exception {
        assertEquals("the first callback ended, the next one ran", occupied("answer", next));
    }

    @ParameterizedTest
    @ValueSource(strings = {"continuation", "loss"})
    void a_callback_behind_one_that_blocks_begins_when_the_system_has_threads_again(String next) throws Exception {
        assertEquals("the first callback ended, the next one ran", occupied("next", next));
    }

    @ParameterizedTest
    @ValueSource(strings = {"lock", "token", "permit", "lease", "job", "interrupted"})
    void a_grant_that_comes_while_the_heap_is_full_is_the_callers_or_goes_back(String kind) throws Exception {
        List<String> command = new Child().option(SMALL).command(Brimful.class, server.url(), name, kind);
        Process child = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader output = new BufferedReader(new InputStreamReader(child.getInputStream()))) {
            assertEquals("ready", output.readLine());
            String key = kind.equals("job") ? "job-lock:default:" + name : name;
            Object before = server.call("DUMP", key);
            server.freeze();
            try {
                goOn(child);
                assertEquals("exhausted", output.readLine());
            } finally {
                server.thaw();
            }
            String end = output.readLine();
            assertTrue(Set.of("taken, and released", "no memory").contains(end), end);
            // A hold without a holder is renewed for as long as the child lives, and a permit without a lease stays out.
            Wait.until(end + ": nothing is held", () -> Objects.equals(before, server.call("DUMP", key)));
        } finally {
            child.destroyForcibly().waitFor();
        }
    }

    private static void goOn(Process child) throws IOException {
        child.getOutputStream().write('\n');
        child.getOutputStream().flush();
    }

    private String occupied(String first, String next) throws Exception {
        List<String> command = new ArrayList<>(List.of("sh", "-c", "ulimit -v " + LIMIT_KB + " && exec \"$@\"", "sh"));
        command.addAll(new Child().option(SMALL).option(HUGE_STACKS).command(Occupied.class, server.url(), name, first, next));
        Process child = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader output = new BufferedReader(new InputStreamReader(child.getInputStream()))) {
            return output.readLine();
        } finally {
            child.destroyForcibly().waitFor();
        }
    }

    private String run(String scarce, String script) throws Exception {
        List<String> command = new ArrayList<>(List.of("sh", "-c", script, "sh"));
        command.addAll(new Child().option(SMALL).command(Scarce.class, server.url(), name, scarce));
        Process child = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader output = new BufferedReader(new InputStreamReader(child.getInputStream()))) {
            assertEquals("exhausted", output.readLine());
            // An answer with a text each: the server refuses to look for a count in it.
            server.call("SET", name, "no latch");
            String channel = "redisson_countdownlatch__channel__{" + name + "}";
            server.call("PUBLISH", channel, "0");
            Wait.until("the answers have come", () -> server.listenersOf(channel) == 0);
            goOn(child);
            return output.readLine();
        } finally {
            child.destroyForcibly().waitFor();
        }
    }
}

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every method of every kind of lock in every state, beside what Redisson 4.7.0 gives there: {@code behaviours.txt} has a line
 * {@code call | Redisson | here} for each, and {@link Differing} the reason for each difference, which docs/redisson.md tells.
 */
class BehaviourTest {
    private static final Path TABLE = Paths.get("tests/java/behaviours.txt");
    /** Whether Redisson is asked anew, and the table written. */
    private static final boolean RENEWS = Boolean.getBoolean("api.renew");
    private static final String WAITS = "waits";
    private static final String SAME = "=";

    @TempDir
    Path directory;

    @Test
    @Timeout(700)
    void every_call_gives_what_it_gives_in_redisson_or_has_a_reason() throws Exception {
        Map<String, String> redissons = new TreeMap<>();
        List<String> waiting = new ArrayList<>();
        List<String> differing = new ArrayList<>();
        for (String line : Files.readAllLines(TABLE)) {
            String[] cells = line.split(" \\| ");
            redissons.put(cells[0], cells[1]);
            if (cells[2].equals(WAITS) || cells[1].equals(WAITS) && cells[2].equals(SAME)) {
                waiting.add(cells[0]);
            }
            if (!cells[2].equals(SAME)) {
                differing.add(line);
            }
        }
        if (RENEWS) {
            redissons = results(new Child(Loaded.CLASS_PATH, Child.classes()), waiting);
        }
        Map<String, String> there = redissons;
        String table = results(new Child(), waiting).entrySet().stream().map(each -> {
            String result = there.getOrDefault(each.getKey(), "unknown");
            return each.getKey() + " | " + result + " | " + (result.equals(each.getValue()) ? SAME : each.getValue()) + "\n";
        }).collect(Collectors.joining());
        if (RENEWS) {
            Files.writeString(TABLE, table);
        }
        assertEquals(Files.readString(TABLE), table, "look at what is new, then write it anew with gradle -PrenewApi");
        assertHasReasons(differing);
    }

    @Test
    void a_count_below_one_gives_a_latch_in_redisson_and_an_error_here_as_the_page_tells() throws Exception {
        String told = "| `true`, and `getCount()` is that number. The latch is open as without it, but its key stays, and refuses another "
                + "`trySetCount`, until a `countDown` or `delete` | `IllegalArgumentException`";
        assertTrue(Files.readString(Paths.get("docs/redisson.md")).contains(told));
        try (TestServer server = TestServer.start()) {
            assertEquals("set to 0: true, count: 0, open with a key: true, set to 1: false, a key after countDown: false, "
                    + "set to -1: true, count: -1, open with a key: true, set to 1: false, a key after countDown: false",
                    said(new Child(Loaded.CLASS_PATH, Child.classes()), server));
            assertEquals("set to 0: IllegalArgumentException, count: 0, open with a key: false, set to 1: true, a key after countDown: false, "
                    + "set to -1: IllegalArgumentException, count: 0, open with a key: false, set to 1: true, a key after countDown: false",
                    said(new Child(), server));
        }
    }

    private static String said(Child child, TestServer server) throws Exception {
        return child.run(LatchBelowOne.class, server.url()).lines().filter(line -> line.startsWith("| ")).map(line -> line.substring(2))
                .collect(Collectors.joining(", "));
    }

    private static void assertHasReasons(List<String> differing) throws Exception {
        String told = Files.readString(Paths.get("docs/redisson.md"));
        TreeSet<Differing> used = new TreeSet<>();
        List<String> unexplained = new ArrayList<>();
        for (String line : differing) {
            Differing reason = Differing.of(line);
            if (reason == null) {
                unexplained.add(line);
            } else {
                used.add(reason);
            }
        }
        assertEquals(List.of(), unexplained);
        assertEquals(new TreeSet<>(List.of(Differing.values())), used, "no reason is without use");
        for (Differing reason : used) {
            assertTrue(told.contains(reason.told), reason + " is told: " + reason.told);
        }
    }

    private Map<String, String> results(Child child, List<String> waiting) throws Exception {
        Path expected = Files.write(directory.resolve("waiting"), waiting);
        try (TestServer server = TestServer.start(); TestServer mortal = TestServer.start()) {
            String output = child.patience(300).run(Behaviours.class, String.valueOf(server.port()), String.valueOf(mortal.port()),
                    expected.toString());
            assertTrue(output.endsWith("ended by itself"), output);
            Map<String, String> results = new TreeMap<>();
            for (String line : output.split("\n")) {
                String[] cells = line.split(" \\| ");
                if (line.startsWith("| ")) {
                    results.put(cells[0].substring(2), cells[1]);
                }
            }
            return results;
        }
    }
}

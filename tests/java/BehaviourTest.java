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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Blocks of the page about Java, run as they are written. */
class JavaPageTest extends LockTest {
    /** The program around a block, which the page leaves to the reader. */
    private static final String PROGRAM = "import io.redlatch.*;\nimport java.util.concurrent.*;\nimport org.redisson.api.*;\nimport reactor.core.publisher.*;\n\n"
            + "public final class Page {\n"
            + "    static CompletionStage<String> charge(String order) { return CompletableFuture.supplyAsync(() -> order + \" is paid\"); }\n"
            + "    public static void main(String[] arguments) {\n        RedissonClient client = Redlatch.connect(\"%s\");\n%s        client.shutdown();\n    }\n}\n";

    @ParameterizedTest
    @CsvSource({"Without a thread, 1", "Reactor and RxJava, 2"})
    void the_block_of_a_section_runs(String section, int times, @TempDir Path directory) throws Exception {
        Matcher block = Pattern.compile("(?ms)^## " + section + "$.*?^```java\n(.*?)^```$").matcher(Files.readString(Path.of("docs/java.md")));
        assertTrue(block.find(), section);
        String text = block.group(1).replace("orders:42", name);
        Path source = Files.writeString(directory.resolve("Page.java"), String.format(PROGRAM, server.url(), text));
        List<String> lines = EnginesPageTest.run(directory, source, "Page");
        assertEquals("ended by itself", lines.remove(lines.size() - 1), lines.toString());
        assertEquals(times, lines.stream().filter(line -> line.equals(name + " is paid")).count(), lines.toString());
        assertEquals(times, lines.size(), lines.toString());
        assertTrue(!lock.isLocked());
    }
}

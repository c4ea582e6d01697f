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
    private static final String PROGRAM = "import io.redlatch.*;\nimport io.micrometer.core.instrument.*;\nimport io.micrometer.core.instrument.simple.*;\n"
            + "import java.util.concurrent.*;\nimport org.redisson.api.*;\nimport reactor.core.publisher.*;\n\n"
            + "public final class Page {\n"
            + "    static CompletionStage<String> charge(String order) { return CompletableFuture.supplyAsync(() -> order + \" is paid\"); }\n"
            + "    public static void main(String[] arguments) {\n        RedissonClient client = Redlatch.connect(\"%s\");\n%s        client.shutdown();\n    }\n}\n";

    @ParameterizedTest
    @CsvSource({"Without a thread, NAME is paid", "Reactor and RxJava, NAME is paid; NAME is paid", "Metrics, held: 1.0; acquired: 1.0"})
    void the_block_of_a_section_runs(String section, String printed, @TempDir Path directory) throws Exception {
        Matcher block = Pattern.compile("(?ms)^## " + section + "$.*?^```java\n(.*?)^```$").matcher(Files.readString(Path.of("docs/java.md")));
        assertTrue(block.find(), section);
        String text = block.group(1).replace("orders:42", name);
        Path source = Files.writeString(directory.resolve("Page.java"), String.format(PROGRAM, server.url(), text));
        List<String> lines = EnginesPageTest.run(directory, source, "Page");
        assertEquals(printed.replace("NAME", name) + "; ended by itself", String.join("; ", lines));
        assertTrue(!lock.isLocked());
    }
}

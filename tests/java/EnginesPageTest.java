import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java of the page about engines, and the example that it names, run as they are written. */
class EnginesPageTest extends MariadbTest {
    /** The program around the block, which the page leaves to the reader. */
    private static final String PROGRAM = "import io.redlatch.*;\nimport org.redisson.api.*;\n\npublic final class Page {\n"
            + "    static void book(int order, long token) { System.out.println(\"booked \" + order + \", token above 0: \" + (token > 0)); }\n"
            + "    static void charge(int order) { System.out.println(\"charged \" + order); }\n"
            + "    public static void main(String[] arguments) {\n        int order = 42;\n        Thread worker = Thread.currentThread();\n%s    }\n}\n";

    @TempDir
    Path directory;

    @Test
    void the_blocks_of_the_page_run() throws Exception {
        Matcher blocks = Pattern.compile("(?ms)^```java\n(.*?)^```$").matcher(Files.readString(Path.of("docs/engines.md")));
        for (String first : new String[] {"booked 42, token above 0: true", "charged 42"}) {
            assertTrue(blocks.find(), "the page has one more block");
            String block = blocks.group(1).replace("mariadb://app:secret@localhost:3306/app", server.url())
                    .replace("zookeeper://localhost:2181", TestZookeeper.shared().url()).replace("redis://localhost:6379", TestServer.shared().url());
            assertTrue(!block.contains("localhost"), block);
            Path source = Files.writeString(directory.resolve("Page.java"), String.format(PROGRAM, block));
            assertEquals(List.of(first, "charged 42", "ended by itself"), run(directory, source, "Page"));
        }
        assertTrue(!blocks.find(), "a block that is not run");
    }

    @Test
    void the_example_moves_from_redis_to_the_database_and_to_zookeeper() throws Exception {
        for (String other : new String[] {server.url(), TestZookeeper.shared().url()}) {
            List<String> lines = run(directory, Path.of("examples/java/src/main/java/Moving.java"), "Moving", TestServer.shared().url(), other);
            assertEquals(new TreeSet<>(List.of("ended by itself", "the new release charges under orders:42", "the old release charges under orders:42",
                    "the release between charges under orders:42, orders:42")), new TreeSet<>(lines));
        }
    }

    /** Compiles one file into a directory and runs it to its end; gives the lines that it printed. */
    static List<String> run(Path directory, Path source, String main, String... arguments) throws Exception {
        String classPath = Child.jar() + File.pathSeparator + System.getProperty("optional.classpath");
        int failed = ToolProvider.getSystemJavaCompiler().run(null, null, null, "--release", "11", "-proc:none", "-Xlint:all,-options", "-Werror", "-d",
                directory.toString(), "-cp", classPath, source.toString());
        assertEquals(0, failed, source + " compiles");
        return new Child(classPath, directory).run(main, arguments).lines().filter(line -> !line.startsWith("WARNING: ")).collect(Collectors.toList());
    }
}

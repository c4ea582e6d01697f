import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The small programs beside this file, as users of Redisson write them: compiled with Redisson, and compiled with our
 * jar, they show the same, line by line, on one server.
 */
class ProgramsTest {
    private static final int PROGRAMS = 28;

    @TempDir
    Path directory;

    @Test
    @Timeout(300)
    void programs_show_the_same_compiled_with_either_and_run_with_it() throws Exception {
        try (TestServer server = TestServer.start()) {
            List<String> redissons = shown("redisson", Loaded.CLASS_PATH, server);
            server.call("FLUSHALL");
            List<String> ours = shown("ours", Child.jar() + File.pathSeparator + System.getProperty("optional.classpath"), server);
            assertEquals(String.join("\n", redissons), String.join("\n", ours));
            assertEquals(PROGRAMS, ours.stream().map(line -> line.split(":")[0]).distinct().count());
            assertTrue(ours.stream().noneMatch(line -> line.contains("the program ends with")), () -> String.join("\n", ours));
        }
    }

    private List<String> shown(String name, String classPath, TestServer server) throws Exception {
        Path classes = Files.createDirectory(directory.resolve(name));
        List<String> command = new ArrayList<>(List.of("--release", "11", "-proc:none", "-nowarn", "-d", classes.toString(), "-cp",
                classPath));
        command.add("tests/java/Resp.java");
        for (File source : new File("tests/java/programs").listFiles()) {
            command.add(source.getPath());
        }
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, command.toArray(new String[0])), "they compile with "
                + name);
        String output = new Child(classPath, classes).option("-XX:TieredStopAtLevel=1").run(Programs.class, server.url());
        assertTrue(output.endsWith("ended by itself"), output);
        List<String> lines = new ArrayList<>(List.of(output.split("\n")));
        lines.removeIf(line -> !line.matches("[A-Z][a-z]\\w+: .*"));
        return lines;
    }
}

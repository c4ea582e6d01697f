import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;

/** The small programs of tests/java/programs, compiled with one library. */
final class CompiledPrograms {
    private final Path classes;
    private final String classPath;

    /**
     * @param directory where the classes go
     * @param library its jars, and the jars that it needs
     */
    CompiledPrograms(Path directory, String library) throws Exception {
        classes = Files.createTempDirectory(directory, "programs");
        classPath = library + File.pathSeparator + System.getProperty("programs.classpath");
        List<String> command = new ArrayList<>(List.of("--release", "11", "-proc:none", "-nowarn", "-d", classes.toString(), "-cp", classPath,
                "tests/java/Resp.java"));
        for (File source : new File("tests/java/programs").listFiles()) {
            command.add(source.getPath());
        }
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, command.toArray(new String[0])), "they compile with " + library);
    }

    /** Runs them one after the other, and gives the lines that they show; `places` come before the library, `options` are of the JVM. */
    List<String> show(TestServer server, String places, String... options) throws Exception {
        String output = new Child(places + classPath, classes).option("-XX:TieredStopAtLevel=1").option(options).run("Programs", server.url());
        assertTrue(output.endsWith("ended by itself"), output);
        List<String> lines = new ArrayList<>(List.of(output.split("\n")));
        lines.removeIf(line -> !line.matches("[A-Z][a-z]\\w+: .*"));
        return lines;
    }
}

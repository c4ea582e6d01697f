import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The small programs beside this file, as users of Redisson write them: compiled with Redisson, and compiled with our
 * jar, they show the same, line by line, on one server.
 */
class ProgramsTest {
    private static final int PROGRAMS = 59;

    @Test
    @Timeout(300)
    void programs_show_the_same_compiled_with_either_and_run_with_it(@TempDir Path directory) throws Exception {
        try (TestServer server = TestServer.start()) {
            List<String> redissons = new CompiledPrograms(directory, Loaded.CLASS_PATH).show(server, "");
            server.call("FLUSHALL");
            String library = Child.jar() + File.pathSeparator + System.getProperty("optional.classpath");
            List<String> ours = new CompiledPrograms(directory, library).show(server, "");
            assertEquals(String.join("\n", redissons), String.join("\n", ours));
            assertEquals(PROGRAMS, ours.stream().map(line -> line.split(":")[0]).distinct().count());
            assertTrue(ours.stream().noneMatch(line -> line.contains("the program ends with")), () -> String.join("\n", ours));
        }
    }
}

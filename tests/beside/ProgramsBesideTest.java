import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.redlatch.beside.Beside;
import java.io.File;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The small programs of users of Redisson show the same when their client becomes one with our locks, and they are not compiled anew. */
class ProgramsBesideTest {
    @Test
    @Timeout(300)
    void programs_show_the_same_when_their_locks_are_ours(@TempDir Path directory) throws Exception {
        assumeTrue(System.getProperty("redisson.version").equals("4.7.0"), "they are written for it");
        String jar = Paths.get(Beside.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
        CompiledPrograms programs = new CompiledPrograms(directory, System.getProperty("redisson.classpath"));
        try (TestServer server = TestServer.start()) {
            String redissons = String.join("\n", programs.show(server, ""));
            server.call("FLUSHALL");
            assertEquals(redissons, String.join("\n", programs.show(server, jar + File.pathSeparator, "-Dbeside=true")));
        }
    }
}

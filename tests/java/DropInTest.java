import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One program, compiled once for Redisson, prints the same with our jar and with Redisson's. It leaves out the cases in which we differ on
 * purpose: an interrupt before a call is an InterruptedException (there a RedisException), and a lease is that of a hold (there of an
 * object).
 */
class DropInTest {
    @TempDir
    Path classes;

    @Test
    void a_program_compiled_for_redisson_sees_the_same_with_our_jar() throws Exception {
        int failed = ToolProvider.getSystemJavaCompiler().run(null, null, null, "--release", "11", "-proc:none", "-d", classes.toString(),
                "-cp", Loaded.CLASS_PATH, "tests/java/Program.java");
        assertEquals(0, failed, "Program.java does not compile against Redisson");
        String redisson;
        try (TestServer server = TestServer.start()) {
            redisson = seen(new Child(Loaded.CLASS_PATH, classes).option("-Dslf4j.internal.verbosity=ERROR"), server);
        }
        assertTrue(redisson.lines().count() > 25 && redisson.endsWith("ended by itself"), redisson);
        try (TestServer server = TestServer.start()) {
            assertEquals(redisson, seen(new Child(Child.jar(), classes), server));
        }
    }

    private static String seen(Child child, TestServer server) throws Exception {
        // Newer JVMs name what will be forbidden one day.
        return child.run(Program.class, server.url()).replaceAll("WARNING: .*", "").strip();
    }
}

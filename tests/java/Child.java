import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;

/** A JVM of its own, for what a running one cannot try twice. */
final class Child {
    /** The first Java that warns of native libraries unless it is told that they are meant. */
    private static final int WARNS = 24;

    private int patience = 120;
    private final List<String> command = new ArrayList<>(List.of(Paths.get(System.getProperty("java.home"), "bin", "java").toString()));
    private String classPath;

    /** With the library under test and the classes of the tests. */
    Child() {
        this(jar(), classes());
    }

    Child(String library, Path classes) {
        classPath = library + File.pathSeparator + classes;
        if (Runtime.version().feature() >= WARNS) {
            option("--enable-native-access=ALL-UNNAMED");
        }
    }

    /** Where the library under test is. */
    static String jar() {
        return location(Redisson.class);
    }

    /** How long it may take, in s. */
    Child patience(int seconds) {
        patience = seconds;
        return this;
    }

    /** Where the classes of the tests are. */
    static Path classes() {
        return Paths.get(location(Child.class));
    }

    Child option(String... options) {
        command.addAll(Arrays.asList(options));
        return this;
    }

    Child behind(Object place) {
        classPath += File.pathSeparator + place;
        return this;
    }

    /** Runs a main class to its end and gives what it printed. */
    String run(Class<?> main, String... arguments) throws Exception {
        return run(main.getName(), arguments);
    }

    /** As {@link #run(Class, String...)}, of a class that is not among those of the tests. */
    String run(String main, String... arguments) throws Exception {
        command(main, arguments);
        File output = File.createTempFile("redlatch-child", null);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output).start();
        boolean ended = process.waitFor(patience, TimeUnit.SECONDS);
        process.destroyForcibly().waitFor();
        String text = Files.readString(output.toPath());
        output.delete();
        return text + (ended ? "ended by itself" : "did not end");
    }

    /** The command by which a main class runs. */
    List<String> command(Class<?> main, String... arguments) {
        return command(main.getName(), arguments);
    }

    private List<String> command(String main, String... arguments) {
        command.addAll(List.of("-cp", classPath, main));
        command.addAll(Arrays.asList(arguments));
        return command;
    }

    private static String location(Class<?> type) {
        try {
            return Paths.get(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }
}

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The memory, threads and descriptors of this process, as Linux tells them. */
final class Vitals {
    private static final Path SELF = Paths.get("/proc/self");

    private final List<Long> memory = new ArrayList<>();
    private final List<Long> files = new ArrayList<>();

    static String clock() {
        return LocalTime.now().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    static long openFiles() throws IOException {
        try (Stream<Path> open = Files.list(SELF.resolve("fd"))) {
            return open.count();
        }
    }

    /** Sockets, and what the I/O threads sleep on; files of the JVM's own are none. */
    static long openSockets() throws IOException {
        List<Path> open;
        try (Stream<Path> all = Files.list(SELF.resolve("fd"))) {
            open = all.collect(Collectors.toList());
        }
        long count = 0;
        for (Path each : open) {
            try {
                String target = Files.readSymbolicLink(each).toString();
                if (target.startsWith("socket:") || target.startsWith("anon_inode:")) {
                    count++;
                }
            } catch (IOException e) {
                // It was closed meanwhile.
            }
        }
        return count;
    }

    static long residentMb() throws IOException {
        return Files.readAllLines(SELF.resolve("status")).stream().filter(line -> line.startsWith("VmRSS"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024).sum();
    }

    /** How many copies of the native library are loaded. */
    static long libraries() throws IOException {
        return Files.readAllLines(SELF.resolve("maps")).stream().filter(line -> line.contains("redlatch") && line.contains("r-xp")).count();
    }

    /** The native threads of ours whose name begins so; Linux keeps 15 letters. */
    static long nativeThreads(String name) throws IOException {
        List<Path> tasks;
        try (Stream<Path> all = Files.list(SELF.resolve("task"))) {
            tasks = all.collect(Collectors.toList());
        }
        long count = 0;
        for (Path task : tasks) {
            try {
                if (Files.readString(task.resolve("comm")).startsWith(name)) {
                    count++;
                }
            } catch (IOException e) {
                // It has ended meanwhile.
            }
        }
        return count;
    }

    static List<Thread> threads(String name) {
        return Thread.getAllStackTraces().keySet().stream().filter(each -> each.getName().startsWith(name)).collect(Collectors.toList());
    }

    void sample() throws IOException {
        memory.add(residentMb());
        files.add(openFiles());
    }

    /** Compares the last quarter with the one after the first, in which the JVM warms up. */
    void judge(Verdict verdict) {
        int quarter = memory.size() / 4;
        if (quarter == 0) {
            return;
        }
        long before = median(memory.subList(quarter, 2 * quarter));
        long after = median(memory.subList(3 * quarter, memory.size()));
        long filesBefore = median(files.subList(quarter, 2 * quarter));
        long filesAfter = median(files.subList(3 * quarter, files.size()));
        System.out.println("resident memory: " + before + " MB in the second quarter, " + after + " MB in the last one; most " + Collections.max(memory) + " MB");
        System.out.println("open files: " + filesBefore + " in the second quarter, " + filesAfter + " in the last one; most " + Collections.max(files));
        if (after > before + before / 4 + 24) {
            verdict.fail("memory grows: from " + before + " to " + after + " MB");
        }
        if (filesAfter > filesBefore + 20) {
            verdict.fail("open files grow: from " + filesBefore + " to " + filesAfter);
        }
    }

    private static long median(List<Long> values) {
        List<Long> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        return sorted.get(sorted.size() / 2);
    }
}

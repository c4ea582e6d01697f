package io.redlatch.internal;

import io.redlatch.NativeLibraryError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds and loads the native library: the file that the system property {@code redlatch.native.path} names, else the one for
 * this platform in the jar, at {@code META-INF/native/<os>-<architecture>/}.
 */
final class NativeLibrary {
    static final String PATH_PROPERTY = "redlatch.native.path";

    private static final String FILE = System.mapLibraryName("redlatch_jni");
    private static final Map<String, String> ARCHITECTURES = Map.of("amd64", "x86_64", "arm64", "aarch64");
    private static final String REMEDY = "build it with `cargo build --release -p redlatch-jni` and name it with -D" + PATH_PROPERTY + "=<file>";
    /** The loader's words on a system whose C library is older than that of the build. */
    private static final Pattern TOO_OLD = Pattern.compile("version [`']GLIBC_([0-9.]+)' not found");
    private static final Pattern C_LIBRARY = Pattern.compile("/.*/libc(-[0-9.]+)?\\.so(\\.6)?$", Pattern.MULTILINE);
    private static final Pattern GLIBC = Pattern.compile("stable release version ([0-9]+\\.[0-9]+)");
    private static final String PLATFORM = findPlatform();

    private static boolean loaded;

    private NativeLibrary() {}

    /**
     * Loads the library unless that is done.
     *
     * @throws NativeLibraryError if there is none for this platform or it cannot be loaded
     */
    static synchronized void load() {
        if (!loaded) {
            findAndLoad();
            loaded = true;
        }
    }

    private static void findAndLoad() {
        String given = System.getProperty(PATH_PROPERTY);
        if (given != null) {
            loadGiven(Paths.get(given).toAbsolutePath(), "-D" + PATH_PROPERTY + " names it: correct that or leave it out");
            return;
        }
        String remedy = "if its directory forbids programs, choose another with -Djava.io.tmpdir=<directory>; else " + REMEDY;
        try {
            loadFile(Extracted.once(fromJar(".sha256"), FILE, () -> fromJar("")), remedy);
        } catch (NativeLibraryError e) {
            loadCopy(fromJar(""), remedy); // a damaged file is mended too
        }
    }

    private static void loadGiven(Path file, String remedy) {
        try {
            loadFile(file, remedy);
        } catch (NativeLibraryError e) {
            if (!isWithAnotherLoader(e.getCause())) {
                throw e;
            }
            try {
                loadCopy(Files.readAllBytes(file), remedy);
            } catch (IOException unreadable) {
                throw e;
            }
        }
    }

    /** The JVM loads a file for one class loader only, so a second web application needs a copy. */
    private static void loadCopy(byte[] library, String remedy) {
        Path copy = Extracted.again(library, FILE);
        try {
            loadFile(copy, remedy);
        } finally {
            copy.toFile().delete(); // it is in memory now; Windows keeps it until the JVM ends
        }
    }

    private static boolean isWithAnotherLoader(Throwable error) {
        return error instanceof UnsatisfiedLinkError && String.valueOf(error.getMessage()).contains("already loaded in another classloader");
    }

    /** The platform in the words of the jar, as in {@code linux-x86_64} and {@code linux-musl-x86_64}. */
    static String platform() {
        return PLATFORM;
    }

    private static String findPlatform() {
        String architecture = System.getProperty("os.arch");
        return system(System.getProperty("os.name").toLowerCase(Locale.ROOT)) + "-" + ARCHITECTURES.getOrDefault(architecture, architecture);
    }

    private static String system(String os) {
        if (os.startsWith("linux")) {
            return isMusl() ? "linux-musl" : "linux";
        }
        if (os.startsWith("mac")) {
            return "macos";
        }
        return os.startsWith("windows") ? "windows" : os;
    }

    /** Whether this JVM runs on Linux's other C library, as Alpine does: a library that is built for one does not load with the other. */
    private static boolean isMusl() {
        return maps().contains("/ld-musl-");
    }

    /** The files in this JVM's memory, if the system tells them. */
    private static String maps() {
        try {
            return Files.readString(Paths.get("/proc/self/maps"), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return ""; // the loader will say what is wrong
        }
    }

    /** The platform with its C library, for errors: most libraries that do not load were built for another one. */
    private static String platformInFull() {
        Matcher library = C_LIBRARY.matcher(maps());
        if (isMusl() || !library.find()) {
            return platform();
        }
        try {
            Matcher version = GLIBC.matcher(Files.readString(Paths.get(library.group()), StandardCharsets.ISO_8859_1));
            return platform() + " with glibc" + (version.find() ? " " + version.group(1) : "");
        } catch (IOException e) {
            return platform() + " with glibc";
        }
    }

    private static byte[] fromJar(String suffix) {
        String entry = "/META-INF/native/" + platform() + "/" + FILE + suffix;
        try (InputStream in = NativeLibrary.class.getResourceAsStream(entry)) {
            if (in == null) {
                throw new NativeLibraryError("the jar has no native library for " + platformInFull() + " (" + entry + "); " + REMEDY, null);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new NativeLibraryError("the native library " + entry + " of the jar cannot be read: " + e + "; " + REMEDY, e);
        }
    }

    private static void loadFile(Path file, String remedy) {
        if (!Files.isRegularFile(file)) {
            throw new NativeLibraryError("the native library " + file + " for " + platform() + " does not exist; " + remedy, null);
        }
        try {
            System.load(file.toString());
        } catch (UnsatisfiedLinkError e) {
            Matcher missing = TOO_OLD.matcher(String.valueOf(e.getMessage()));
            String cure = remedy;
            if (missing.find()) {
                cure = "it needs at least glibc " + missing.group(1) + ": run on a newer system, or on this one " + REMEDY;
            }
            throw new NativeLibraryError("the native library " + file + " cannot be loaded on " + platformInFull() + ": " + e.getMessage() + "; " + cure, e);
        }
    }
}

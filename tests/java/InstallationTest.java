import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.lang.module.ModuleFinder;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jar on a machine: its native library, its class path, and the end of the JVM. */
class InstallationTest {
    @TempDir
    Path directory;

    @Test
    void a_jvm_with_an_open_client_ends_when_main_returns() throws Exception {
        assertTrue(run(new Child(), 1).endsWith("locked\nended by itself"));
    }

    @Test
    void the_native_library_is_extracted_once_to_where_only_its_user_writes() throws Exception {
        for (int jvm = 0; jvm < 2; jvm++) {
            assertTrue(run(new Child().option("-Djava.io.tmpdir=" + directory), 1).contains("locked"));
        }
        try (var places = Files.list(directory)) {
            Path place = places.findFirst().orElseThrow();
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(place)));
            assertEquals(1, place.toFile().list().length);
        }
    }

    @Test
    void a_damaged_library_on_disk_is_passed_over() throws Exception {
        assertTrue(run(new Child().option("-Djava.io.tmpdir=" + directory), 1).contains("locked"));
        File library = directory.toFile().listFiles()[0].listFiles()[0];
        Files.writeString(library.toPath(), "nonsense");
        assertTrue(run(new Child().option("-Djava.io.tmpdir=" + directory), 1).contains("locked"));
        assertEquals(1, library.getParentFile().list().length, "the copy in its place is gone");
    }

    @Test
    void a_missing_file_in_the_native_path_is_named_each_time() throws Exception {
        String output = run(new Child().option("-Dredlatch.native.path=/nowhere/libredlatch_jni.so"), 2);
        assertEquals(2, output.lines().filter(line -> line.startsWith("io.redlatch.NativeLibraryError")
                && line.contains("/nowhere/libredlatch_jni.so") && line.contains("-Dredlatch.native.path")).count(), output);
    }

    @Test
    void a_file_that_is_no_library_is_named_with_the_platform() throws Exception {
        Path file = Files.writeString(directory.resolve("library.so"), "text");
        String output = run(new Child().option("-Dredlatch.native.path=" + file), 1);
        assertTrue(output.contains("io.redlatch.NativeLibraryError") && output.contains(file.toString()), output);
        assertTrue(output.contains(" on linux-") || output.contains(" on macos-") || output.contains(" on windows-"), output);
        if (output.contains(" on linux-") && !output.contains(" on linux-musl-")) {
            assertTrue(output.matches("(?s).* on linux-\\w+ with glibc 2[.]\\d+: .*"), output);
        }
    }

    @Test
    void a_platform_without_a_library_is_named_with_what_to_do() throws Exception {
        String output = run(new Child().option("-Dos.arch=sparc"), 1);
        assertTrue(output.contains("io.redlatch.NativeLibraryError") && output.contains("linux-sparc"), output);
        assertTrue(output.contains("cargo build") && output.contains("-Dredlatch.native.path"), output);
    }

    @Test
    void a_library_for_another_processor_is_named_with_this_one() throws Exception {
        byte[] library;
        try (JarFile jar = new JarFile(Child.jar())) {
            JarEntry entry = jar.stream().filter(each -> each.getName().matches("META-INF/native/linux-.*[.]so")).findFirst().orElse(null);
            assumeTrue(entry != null, "elsewhere libraries look otherwise");
            library = jar.getInputStream(entry).readAllBytes();
        }
        library[18] = (byte) (library[18] == 0x3E ? 0xB7 : 0x3E); // the processor of an ELF file: x86-64 or aarch64
        Path file = Files.write(directory.resolve("library.so"), library);
        String output = run(new Child().option("-Dredlatch.native.path=" + file), 1);
        assertTrue(output.contains("io.redlatch.NativeLibraryError") && output.contains(file + " cannot be loaded on linux"), output);
    }

    @Test
    void a_system_with_an_older_c_library_is_told_which_one_it_needs() throws Exception {
        byte[] library;
        try (JarFile jar = new JarFile(Child.jar())) {
            JarEntry entry = jar.stream().filter(each -> each.getName().matches("META-INF/native/linux-[^m].*[.]so")).findFirst().orElse(null);
            assumeTrue(entry != null, "other systems have another C library");
            library = jar.getInputStream(entry).readAllBytes();
        }
        String text = new String(library, StandardCharsets.ISO_8859_1);
        // The newest that it needs: 2.17, or that of the machine which has built it for its tests.
        String needed = Pattern.compile("GLIBC_2[.](\\d+)").matcher(text).results().map(each -> each.group(1))
                .max(Comparator.comparing(Integer::valueOf)).orElseThrow();
        // No system has that one: to the loader, every one is too old.
        Path file = Files.write(directory.resolve("library.so"), text.replace("GLIBC_2." + needed, "GLIBC_9." + needed)
                .getBytes(StandardCharsets.ISO_8859_1));
        String output = run(new Child().option("-Dredlatch.native.path=" + file), 1);
        assertTrue(output.contains("it needs at least glibc 9." + needed) && output.contains("cargo build"), output);
        assertTrue(output.matches("(?s).*cannot be loaded on linux-\\w+ with glibc 2[.]\\d+: .*"), output);
    }

    @Test
    void the_jar_has_its_licence_and_those_of_the_crates_in_its_library() throws Exception {
        try (JarFile jar = new JarFile(Child.jar())) {
            for (String[] each : new String[][] {{"META-INF/LICENSE", "LICENSE"}, {"META-INF/THIRD-PARTY-NOTICES.txt", "java/native/THIRD-PARTY-NOTICES.txt"},
                {"META-INF/sbom/redlatch-jni.cdx.json", "java/native/sbom.cdx.json"}}) {
                assertArrayEquals(Files.readAllBytes(Paths.get(each[1])), jar.getInputStream(jar.getEntry(each[0])).readAllBytes(), each[0]);
            }
        }
    }

    @Test
    void the_module_has_the_name_of_redissons() {
        assertEquals(Set.of("redisson"), ModuleFinder.of(Paths.get(Child.jar())).findAll().stream().map(each -> each.descriptor().name())
                .collect(Collectors.toSet()));
    }

    @Test
    void a_jvm_on_musl_is_told_from_one_on_glibc() throws Exception {
        Path musl = Files.writeString(directory.resolve("ld-musl-x86_64.so.1"), "what a JVM on musl has in its memory");
        String output = new Child().run(LockOnce.class, TestServer.shared().url(), "1", musl.toString());
        assertTrue(output.contains("io.redlatch.NativeLibraryError") && output.contains("linux-musl-"), output);
    }

    @Test
    void redisson_on_the_same_class_path_is_an_error_that_names_both_places() throws Exception {
        String output = run(new Child().behind(Loaded.redissonsJar()), 1);
        assertTrue(output.contains("io.redlatch.ClassPathConflictException"), output);
        assertTrue(output.contains(Paths.get(Child.jar()).getFileName().toString()) && output.contains(Loaded.redissonsJar()), output);
        assertTrue(output.contains("remove the other"), output);
    }

    @Test
    void redisson_in_front_on_the_class_path_is_told_by_every_method_of_ours_that_takes_its_objects() throws Exception {
        String theirsFirst = System.getProperty("redisson.classpath") + File.pathSeparator + Child.jar();
        String output = new Child(theirsFirst, Child.classes()).run(BehindRedisson.class);
        assertEquals(BehindRedisson.CALLS, output.lines()
                .filter(line -> line.contains("io.redlatch.ClassPathConflictException") && line.contains("remove the other")).count(), output);
    }

    @Test
    void two_class_loaders_of_one_jvm_have_a_library_each() throws Exception {
        try (URLClassLoader one = loader(); URLClassLoader other = loader()) {
            Class<?> first = deploy(one);
            assertNotSame(first, deploy(other));
            assertSame(first, deploy(one), "and each of them works on");
        }
    }

    /** As WildFly's and those of OSGi do. */
    @Test
    void a_class_loader_that_hides_the_flight_recorder_has_its_locks() throws Exception {
        ClassLoader hides = new ClassLoader(ClassLoader.getPlatformClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (name.startsWith("jdk.jfr.")) {
                    throw new ClassNotFoundException(name);
                }
                return super.loadClass(name, resolve);
            }
        };
        try (URLClassLoader loader = loader(hides)) {
            deploy(loader);
        }
    }

    @Test
    void an_application_that_was_taken_out_leaves_nothing_behind() throws Exception {
        List<WeakReference<ClassLoader>> gone = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            try (URLClassLoader loader = loader()) {
                deploy(loader);
                gone.add(new WeakReference<>(loader));
            }
        }
        Wait.until("the class loaders are gone", () -> {
            System.gc();
            return gone.stream().allMatch(each -> each.get() == null);
        });
        assertTrue(Thread.getAllStackTraces().size() > 0, "the JVM lives");
    }

    @Test
    void clients_that_are_shut_down_leave_no_descriptor_open_though_their_multi_locks_are_kept() throws Exception {
        assumeTrue(Files.exists(Path.of("/proc/self/fd")), "other systems tell otherwise what is open");
        String output = new Child().run(CloseEverything.class, TestServer.shared().url());
        assertEquals("closed, closed, closed, 3 locks kept, 0 more open, RedissonShutdownException\nended by itself", output);
    }

    @Test
    void a_loss_that_is_told_after_its_application_was_taken_out_needs_no_more_of_the_jar() throws Exception {
        CompletableFuture<Void> closed = new CompletableFuture<>();
        CompletableFuture<?> reason;
        try (URLClassLoader loader = loader()) {
            reason = (CompletableFuture<?>) loader.loadClass("ClosedWhileHeld").getMethod("run", String.class, CompletableFuture.class)
                    .invoke(null, TestServer.shared().url(), closed);
        }
        closed.complete(null);
        assertEquals("closed", reason.get(20, TimeUnit.SECONDS));
    }

    @Test
    void an_application_leaves_no_native_library_once_the_threads_that_called_it_have_ended() throws Exception {
        assumeTrue(Files.exists(Path.of("/proc/self/maps")), "other systems tell otherwise what is loaded");
        long before = libraries();
        for (int i = 0; i < 3; i++) {
            Worker.elsewhere(() -> {
                try (URLClassLoader loader = loader()) {
                    return deploy(loader).getName();
                }
            });
        }
        Wait.until("the libraries are gone", () -> {
            System.gc();
            return libraries() <= before;
        });
    }

    private static long libraries() throws Exception {
        return Files.readAllLines(Path.of("/proc/self/maps")).stream().filter(line -> line.contains("redlatch_jni") && line.contains("r-xp")).count();
    }

    @Test
    void two_class_loaders_of_one_jvm_share_the_file_that_is_named() throws Exception {
        Path file = directory.resolve(System.mapLibraryName("given"));
        try (JarFile jar = new JarFile(Child.jar())) {
            JarEntry entry = jar.stream().filter(each -> each.getName().matches("META-INF/native/.*[.](so|dylib|dll)")).findFirst().orElseThrow();
            Files.write(file, jar.getInputStream(entry).readAllBytes());
        }
        System.setProperty("redlatch.native.path", file.toString());
        try (URLClassLoader one = loader(); URLClassLoader other = loader()) {
            assertNotSame(deploy(one), deploy(other));
        } finally {
            System.clearProperty("redlatch.native.path");
        }
    }

    private static URLClassLoader loader() throws Exception {
        return loader(ClassLoader.getPlatformClassLoader());
    }

    private static URLClassLoader loader(ClassLoader parent) throws Exception {
        URL[] jar = {Paths.get(Child.jar()).toUri().toURL(), LockOnce.class.getProtectionDomain().getCodeSource().getLocation()};
        return new URLClassLoader(jar, parent);
    }

    /** Runs an application as a server does that deploys it. */
    private static Class<?> deploy(ClassLoader loader) throws Exception {
        Class<?> application = loader.loadClass("Deployed");
        assertEquals("locked", application.getMethod("run", String.class).invoke(null, TestServer.shared().url()));
        return application;
    }

    private static String run(Child child, int times) throws Exception {
        return child.run(LockOnce.class, TestServer.shared().url(), String.valueOf(times));
    }
}

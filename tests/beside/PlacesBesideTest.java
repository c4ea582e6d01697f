import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.redlatch.beside.Beside;
import java.io.File;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The jar among others. */
class PlacesBesideTest extends BesideTest {
    private static final String REDISSON = System.getProperty("redisson.classpath");
    private static final String PLAIN = System.getProperty("redlatch.jar");

    @ParameterizedTest
    @ValueSource(strings = {"beside redisson plain", "beside plain redisson", "plain beside redisson", "redisson plain beside"})
    void the_plain_jar_on_the_same_class_path_is_an_error_that_names_both(String order) throws Exception {
        List<String> places = new ArrayList<>();
        for (String each : order.split(" ")) {
            places.add(each.equals("beside") ? beside() : each.equals("plain") ? PLAIN : REDISSON);
        }
        String output = new Child(String.join(File.pathSeparator, places), Child.classes()).run(OnceBeside.class, server.url());
        assertTrue(output.contains("io.redlatch.ClassPathConflictException"), output);
        assertTrue(output.contains(new File(beside()).getName()) && output.contains(new File(PLAIN).getName()), output);
        assertTrue(output.contains("remove io.redlatch:redlatch,"), output);
    }

    @Test
    void alone_with_redisson_it_locks() throws Exception {
        String output = new Child(beside() + File.pathSeparator + REDISSON, Child.classes()).run(OnceBeside.class, server.url());
        assertTrue(output.contains("locked by io.redlatch.beside.BesideLock"), output);
    }

    @Test
    void two_class_loaders_of_one_jvm_have_a_library_each() throws Exception {
        try (URLClassLoader one = loader(); URLClassLoader other = loader()) {
            Class<?> first = one.loadClass("OnceBeside");
            Class<?> second = other.loadClass("OnceBeside");
            assertNotSame(first, second);
            for (Class<?> each : List.of(first, second, first)) {
                assertEquals("locked by io.redlatch.beside.BesideLock", each.getMethod("run", String.class).invoke(null, server.url()));
            }
        }
    }

    @Test
    void redisson_in_a_parent_loader_is_the_same_redisson() throws Exception {
        try (URLClassLoader parent = new URLClassLoader(urls(REDISSON), ClassLoader.getPlatformClassLoader());
                URLClassLoader child = new URLClassLoader(urls(beside() + File.pathSeparator + Child.classes()), parent)) {
            Object seen = child.loadClass("OnceBeside").getMethod("run", String.class).invoke(null, server.url());
            assertEquals("locked by io.redlatch.beside.BesideLock", seen);
        }
    }

    @Test
    void an_application_that_was_taken_out_leaves_nothing_in_the_loader_of_redisson() throws Exception {
        List<WeakReference<ClassLoader>> gone = new ArrayList<>();
        try (URLClassLoader parent = new URLClassLoader(urls(REDISSON), ClassLoader.getPlatformClassLoader())) {
            for (int i = 0; i < 3; i++) {
                try (URLClassLoader child = new URLClassLoader(urls(beside() + File.pathSeparator + Child.classes()), parent)) {
                    child.loadClass("OnceBeside").getMethod("run", String.class).invoke(null, server.url());
                    gone.add(new WeakReference<>(child));
                }
            }
            Wait.until("the class loaders are gone", () -> {
                System.gc();
                return gone.stream().filter(each -> each.get() != null).count() <= 1; // Redisson keeps one itself
            });
            assertEquals(3, gone.size());
        }
    }

    @Test
    void no_class_of_ours_has_redissons_name_and_none_that_was_moved_knows_redisson() throws Exception {
        try (JarFile jar = new JarFile(beside())) {
            List<String> wrong = new ArrayList<>();
            int seen = 0;
            for (var entry : (Iterable<java.util.jar.JarEntry>) jar.stream()::iterator) {
                String name = entry.getName();
                if (name.startsWith("io/redlatch/beside/") || name.contains("/native/") || entry.isDirectory()) {
                    continue;
                }
                seen++;
                String text = new String(jar.getInputStream(entry).readAllBytes(), java.nio.charset.StandardCharsets.ISO_8859_1);
                if (name.startsWith("org/") || text.contains("org/redisson") || text.contains("org.redisson")) {
                    wrong.add(name);
                }
            }
            assertEquals(List.of(), wrong);
            assertTrue(seen > 200, seen + " files");
        }
    }

    @Test
    void virtual_threads_take_their_turns() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "this JVM has no virtual threads");
        int threads = 200;
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger entered = new AtomicInteger();
        CountDownLatch ended = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) () -> {
                lock.lock();
                if (inside.incrementAndGet() == 1) {
                    entered.incrementAndGet();
                }
                inside.decrementAndGet();
                lock.unlock();
                ended.countDown();
            });
        }
        assertTrue(ended.await(30, TimeUnit.SECONDS), entered + " of " + threads);
        assertEquals(threads, entered.get());
    }

    private static String beside() throws Exception {
        return Paths.get(Beside.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    }

    private static URLClassLoader loader() throws Exception {
        return new URLClassLoader(urls(beside() + File.pathSeparator + REDISSON + File.pathSeparator + Child.classes()),
                ClassLoader.getPlatformClassLoader());
    }

    private static URL[] urls(String classPath) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String each : Arrays.asList(classPath.split(File.pathSeparator))) {
            urls.add(Path.of(each).toUri().toURL());
        }
        return urls.toArray(new URL[0]);
    }
}

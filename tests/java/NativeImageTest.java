import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * GraalVM's files in the jar list what the jar has: the native methods, the classes that the native library names, those whose settings a
 * configuration file sets, and the library itself. {@code gradle -PrenewApi} writes the files.
 */
class NativeImageTest {
    private static final String PLACE = "META-INF/native-image/io.redlatch/redlatch/";
    private static final Path SOURCE = Paths.get("java/src/main/resources", PLACE);
    /** Classes whose methods the interfaces for Reactor and RxJava call by their names. */
    private static final String BEHIND_STREAMS = "org\\.redisson\\.Redisson(|\\w*Lock|\\w*Semaphore|CountDownLatch|Keys)";
    private static final Pattern NAMED = Pattern.compile("java[./](?:lang|nio|util)[./][A-Z][A-Za-z$]+");

    @Test
    void native_code_finds_the_classes_that_it_names() throws Exception {
        Set<String> named = new TreeSet<>();
        try (JarFile jar = new JarFile(Child.jar()); InputStream in = jar.getInputStream(
                jar.stream().filter(entry -> entry.getName().matches("META-INF/native/.*(so|dylib|dll)")).findFirst().orElseThrow())) {
            Matcher names = NAMED.matcher(new String(in.readAllBytes(), StandardCharsets.ISO_8859_1));
            while (names.find()) {
                named.add(names.group().replace('/', '.'));
            }
        }
        assertTrue(named.containsAll(Set.of("java.lang.RuntimeException", "java.lang.String")), named.toString());
        // Which of the names that it never uses a build leaves out differs from one build to another: the file has those of all.
        named.addAll(listed());
        for (String name : named) {
            Class.forName(name);
        }
        List<String> lines = new ArrayList<>(List.of("{\"name\": \"io.redlatch.internal.Native\", \"methods\": " + natives() + "}"));
        named.forEach(name -> lines.add("{\"name\": \"" + name + "\", \"allPublicConstructors\": true, \"allPublicMethods\": true}"));
        assertFile("jni-config.json", "[\n  " + String.join(",\n  ", lines) + "\n]\n");
    }

    /** The classes of Java's own that the file has. */
    private static Set<String> listed() throws IOException {
        Matcher names = NAMED.matcher(Files.readString(SOURCE.resolve("jni-config.json")));
        Set<String> listed = new TreeSet<>();
        while (names.find()) {
            listed.add(names.group());
        }
        return listed;
    }

    private static String natives() throws Exception {
        return Arrays.stream(Loaded.ours("io.redlatch.internal.Native").getDeclaredMethods()).filter(each -> Modifier.isNative(each.getModifiers()))
                .map(NativeImageTest::written).sorted().collect(Collectors.joining(", ", "[", "]"));
    }

    private static String written(Method method) {
        String inputs = Arrays.stream(method.getParameterTypes()).map(type -> "\"" + type.getTypeName() + "\"")
                .collect(Collectors.joining(", ", "[", "]"));
        return "{\"name\": \"" + method.getName() + "\", \"parameterTypes\": " + inputs + "}";
    }

    @Test
    void a_configuration_file_finds_the_settings_and_the_classes_of_its_tags_and_streams_the_objects_behind_them() throws Exception {
        List<String> lines = new ArrayList<>();
        for (String name : Loaded.classesIn(Child.jar())) {
            if (name.matches(BEHIND_STREAMS)) {
                lines.add("{\"name\": \"" + name + "\", \"allPublicMethods\": true}");
            } else if (name.matches("org\\.redisson\\.(config|codec|client|connection)\\..*") && !name.endsWith("package-info")) {
                Class<?> type = Loaded.ours(name);
                if (Modifier.isPublic(type.getModifiers()) && !type.isInterface() && !type.isEnum() && !Throwable.class.isAssignableFrom(type)) {
                    lines.add("{\"name\": \"" + name + "\", \"allDeclaredConstructors\": true, \"allPublicMethods\": true}");
                }
            }
        }
        assertTrue(lines.size() > 25, lines.size() + " classes");
        assertFile("reflect-config.json", "[\n  " + String.join(",\n  ", lines) + "\n]\n");
    }

    @Test
    void the_interfaces_of_streams_find_the_methods_behind_them() throws Exception {
        List<String> lines = new ArrayList<>();
        for (String name : Loaded.classesIn(Child.jar())) {
            if (name.matches("org\\.redisson\\.api\\.(R(Lock|FencedLock|ReadWriteLock|Semaphore|PermitExpirableSemaphore|CountDownLatch|Keys)(Rx|Reactive)"
                    + "|Redisson(Rx|Reactive)Client)")) {
                lines.add("[\"" + name + "\"]");
            }
        }
        assertEquals(16, lines.size());
        assertFile("proxy-config.json", "[\n  " + String.join(",\n  ", lines) + "\n]\n");
    }

    @Test
    void an_image_has_the_library() throws Exception {
        assertFile("resource-config.json", "{\"resources\": {\"includes\": [{\"pattern\": \"META-INF/native/.*\"}]}}\n");
    }

    private static void assertFile(String name, String wanted) throws Exception {
        if (Boolean.getBoolean("api.renew")) {
            Files.createDirectories(SOURCE);
            Files.writeString(SOURCE.resolve(name), wanted);
            return;
        }
        try (JarFile jar = new JarFile(Child.jar())) {
            assertTrue(jar.getEntry(PLACE + name) != null, name + " is not in the jar; write it with gradle -PrenewApi");
            try (InputStream in = jar.getInputStream(jar.getEntry(PLACE + name))) {
                assertEquals(wanted, new String(in.readAllBytes(), StandardCharsets.UTF_8), "write it anew with gradle -PrenewApi");
            }
        }
    }
}

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.config.Config;

/** A configuration on its way to the core. */
class ConfigOfTheCoreTest {
    /** The core reads the same files, and is held against the same texts. */
    @ParameterizedTest
    @ValueSource(strings = {"single.yaml", "cluster.yaml", "sentinel.yaml", "replicated.json", "master-slave.yaml"})
    void a_file_means_to_the_core_what_is_written_beside_it(String name) throws Exception {
        File file = new File("tests/redisson", name);
        Config config = Config.fromYAML(file);
        Object servers = inside("Servers", "of", Config.class).invoke(null, config);
        Set<String> read = new TreeSet<>();
        Field url = servers.getClass().getDeclaredField("url");
        url.setAccessible(true);
        read.add((String) url.get(servers));
        Object login = made("Login", config, servers);
        Map<Object, Object> options = new HashMap<>((Map<?, ?>) inside("Settings", "options", Config.class, servers.getClass(), login.getClass())
                .invoke(null, config, servers, login));
        options.putAll((Map<?, ?>) inside("Tls", "options").invoke(made("Tls", config, servers)));
        options.forEach((option, value) -> read.add(option + "=" + value));
        read.remove("tls_verify=full"); // the default
        String written = file.getPath().replaceFirst("[.][a-z]+$", ".txt");
        assertEquals(new TreeSet<>(Files.readAllLines(Path.of(written))), read);
    }

    private static Object made(String type, Config config, Object servers) throws Exception {
        Constructor<?> made = Class.forName("org.redisson." + type).getDeclaredConstructor(Config.class, servers.getClass());
        made.setAccessible(true);
        return made.newInstance(config, servers);
    }

    private static Method inside(String type, String name, Class<?>... inputs) throws Exception {
        Method method = Class.forName("org.redisson." + type).getDeclaredMethod(name, inputs);
        method.setAccessible(true);
        return method;
    }
}

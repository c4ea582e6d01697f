import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Our classes beside Redisson's: a method that a program calls there is here, with the same types, exceptions and defaults, or has a reason. */
class CompatibilityTest {
    @Test
    void each_missing_method_has_a_reason_and_no_reason_is_without_use() throws Exception {
        List<String> unexplained = new ArrayList<>();
        Set<Missing> used = new TreeSet<>();
        for (String name : bothHave()) {
            for (String call : missing(name)) {
                Missing reason = Missing.of(name, call);
                if (reason == null) {
                    unexplained.add(name + ": " + call);
                } else {
                    used.add(reason);
                }
            }
        }
        assertEquals(List.of(), unexplained);
        assertEquals(new TreeSet<>(List.of(Missing.values())), used);
    }

    @Test
    void every_type_is_what_it_is_there() throws Exception {
        for (String name : bothHave()) {
            Set<String> ours = supertypes(Loaded.ours(name));
            Set<String> theirs = supertypes(Loaded.redissons(name));
            theirs.removeIf(type -> !type.startsWith("org.redisson.api.") || Missing.isMistaken(name, type));
            theirs.removeAll(ours);
            assertTrue(Missing.isClassOfThisLibrary(name) || theirs.isEmpty(), name + " is no " + theirs);
            assertEquals(Loaded.redissons(name).isInterface(), Loaded.ours(name).isInterface(), name);
        }
    }

    @Test
    void every_factory_of_locks_is_here() throws Exception {
        Set<String> wanted = Loaded.calls(Loaded.redissons("org.redisson.api.RedissonClient"));
        wanted.removeIf(call -> !call.matches(".* (get(|Spin|NonReentrant|Fair|NonReentrantFair|ReadWrite|Fenced|Multi|Red)Lock|getSemaphore"
                + "|getPermitExpirableSemaphore|getCountDownLatch|getId|getConfig|isShutdown|isShuttingDown|shutdown|shutdownAsync)\\(.*"));
        assertEquals(31, wanted.size());
        wanted.removeAll(Loaded.calls(Loaded.ours("org.redisson.api.RedissonClient")));
        assertEquals(Set.of(), wanted);
    }

    @Test
    void every_exception_is_here() throws Exception {
        int seen = 0;
        for (String name : Loaded.classesIn(Loaded.redissonsJar())) {
            if (!name.matches("org\\.redisson\\.(RedissonShutdown|client\\.\\w+|command\\.NoSyncedSlaves)Exception")) {
                continue;
            }
            seen++;
            assertEquals(Set.of(), missing(name), name);
            assertEquals(Loaded.redissons(name).getSuperclass().getName(), Loaded.ours(name).getSuperclass().getName(), name);
        }
        assertTrue(seen >= 23, seen + " exceptions");
    }

    @ParameterizedTest
    @ValueSource(strings = {"useSingleServer", "useClusterServers", "useSentinelServers", "useReplicatedServers", "useMasterSlaveServers"})
    void settings_that_are_not_set_are_as_in_redisson(String mode) throws Exception {
        Map<String, String> theirs = defaults(Loaded.redissons("org.redisson.config.Config"), mode);
        Map<String, String> ours = defaults(Loaded.ours("org.redisson.config.Config"), mode);
        ours.keySet().retainAll(theirs.keySet());
        assertTrue(theirs.size() > 60, theirs.size() + " settings");
        assertEquals(theirs, ours);
    }

    /** The public types by whose names both jars have one. */
    private static Set<String> bothHave() throws Exception {
        Set<String> names = Loaded.classesIn(Child.jar());
        names.retainAll(Loaded.classesIn(Loaded.redissonsJar()));
        names.removeIf(name -> name.endsWith("package-info"));
        for (String name : Set.copyOf(names)) {
            if (!Modifier.isPublic(Loaded.redissons(name).getModifiers())) {
                names.remove(name);
            }
        }
        assertTrue(names.size() > 90, names.size() + " types");
        assertFalse(names.contains("org.redisson.Settings"));
        return names;
    }

    private static Set<String> missing(String name) throws Exception {
        Set<String> wanted = Loaded.calls(Loaded.redissons(name));
        wanted.removeAll(Loaded.calls(Loaded.ours(name)));
        return wanted;
    }

    private static Set<String> supertypes(Class<?> type) {
        Set<String> names = new TreeSet<>();
        for (Class<?> each : type.getInterfaces()) {
            names.add(each.getName());
            names.addAll(supertypes(each));
        }
        if (type.getSuperclass() != null) {
            names.add(type.getSuperclass().getName());
            names.addAll(supertypes(type.getSuperclass()));
        }
        return names;
    }

    /** The values of a new configuration and of its servers, as far as they are numbers, texts or words. */
    private static Map<String, String> defaults(Class<?> type, String mode) throws Exception {
        Map<String, String> values = new TreeMap<>();
        Object config = type.getConstructor().newInstance();
        for (Object each : List.of(config, type.getMethod(mode).invoke(config))) {
            for (Method method : each.getClass().getMethods()) {
                Class<?> given = method.getReturnType();
                boolean plain = given.isPrimitive() || given.isEnum() || given == String.class;
                if (method.getName().matches("(get|is)[A-Z].*") && method.getParameterCount() == 0 && plain) {
                    values.put(each.getClass().getSimpleName() + "." + method.getName(), String.valueOf(method.invoke(each)));
                }
            }
        }
        return values;
    }
}

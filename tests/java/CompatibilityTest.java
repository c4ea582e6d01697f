import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Our classes beside Redisson's: what a program calls there is here, with the same types, exceptions and defaults. */
class CompatibilityTest {
    /** What setters of a configuration take, or lead to, that is not here, and why. */
    private static final Map<String, String> NOT_HERE = Map.of(
            "NettyHook", "Netty is not used", "EventLoopGroup", "Netty is not used", "AddressResolverGroupFactory", "Netty is not used",
            "ConnectionListener", "connections are shared and opened at need",
            "CredentialsResolver", "user and password are fixed for a client", "CommandMapper", "scripts name their commands",
            "ServersConfig", "only one server is supported", "YAML", "configurations are not read from files");

    @ParameterizedTest
    @ValueSource(strings = {"api.RLock", "api.RLockAsync", "api.RFencedLock", "api.RFencedLockAsync", "api.RReadWriteLock", "api.LockOptions",
            "api.LockOptions$BackOff", "api.LockOptions$BackOffPolicy", "api.LockOptions$ExponentialBackOff", "api.LockOptions$ConstantBackOff", "api.RObservable", "api.RObservableAsync", "api.RFuture", "api.ObjectListener",
            "api.ExpiredObjectListener", "api.DeletedObjectListener", "api.options.CommonOptions", "api.options.InvocationOptions",
            "config.DelayStrategy", "config.ConstantDelay", "config.FullJitterDelay", "config.EqualJitterDelay",
            "config.DecorrelatedJitterDelay", "config.NameMapper", "config.DefaultNameMapper", "config.SslVerificationMode",
            "config.SslProvider", "config.Protocol", "config.TransportMode", "config.ValkeyCapability"})
    void every_call_of_a_type_is_here(String name) throws Exception {
        assertEquals(Set.of(), missing("org.redisson." + name));
        assertEquals(supertypes(Loaded.redissons("org.redisson." + name)), supertypes(Loaded.ours("org.redisson." + name)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"api.RSemaphore", "api.RSemaphoreAsync", "api.RCountDownLatch", "api.RCountDownLatchAsync",
            "api.RPermitExpirableSemaphore", "api.RPermitExpirableSemaphoreAsync"})
    void every_call_of_an_object_is_here_but_those_of_keys_in_general(String name) throws Exception {
        Set<String> missing = missing("org.redisson." + name);
        // Moving, copying and measuring keys, and ends under a condition, are for a client of everything that Redis has.
        missing.removeIf(call -> call.matches(".* (copy|copyAndReplace|move|rename|renamenx|migrate|dump|restore|restoreAndReplace|touch"
                + "|sizeInMemory|get(AccessFrequency|ReferenceCount|IdleTime|InternalEncoding|Codec|ExpireTime)|expire(At|If\\w+))(Async)?\\(.*"));
        missing.removeIf(call -> call.matches(".* expire(Async)?\\(long, .*"));
        assertEquals(Set.of(), missing);
        assertEquals(supertypes(Loaded.redissons("org.redisson." + name)), supertypes(Loaded.ours("org.redisson." + name)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"config.Config", "config.SingleServerConfig"})
    void every_setting_is_here_but_those_that_are_known_to_be_missing(String name) throws Exception {
        Set<String> unknown = missing("org.redisson." + name);
        unknown.removeIf(call -> NOT_HERE.keySet().stream().anyMatch(call::contains));
        assertEquals(Set.of(), unknown);
    }

    @Test
    void nothing_that_is_said_to_be_missing_is_here() throws Exception {
        Set<String> here = Loaded.calls(Loaded.ours("org.redisson.config.Config"));
        here.addAll(Loaded.calls(Loaded.ours("org.redisson.config.SingleServerConfig")));
        here.removeIf(call -> NOT_HERE.keySet().stream().noneMatch(call::contains));
        assertEquals(Set.of(), here);
    }

    @Test
    void every_call_of_a_client_that_has_to_do_with_locks_is_here() throws Exception {
        Set<String> wanted = Loaded.calls(Loaded.redissons("org.redisson.api.RedissonClient"));
        wanted.removeIf(call -> !call.matches(".* (get(|Spin|NonReentrant|Fair|NonReentrantFair|ReadWrite|Fenced)Lock|getSemaphore|getPermitExpirableSemaphore|getCountDownLatch|getId|getConfig|isShutdown|isShuttingDown|shutdown|shutdownAsync)\\(.*"));
        assertEquals(28, wanted.size());
        wanted.removeAll(Loaded.calls(Loaded.ours("org.redisson.api.RedissonClient")));
        assertEquals(Set.of(), wanted);
        Set<String> made = Loaded.calls(Loaded.redissons("org.redisson.Redisson"));
        made.removeIf(call -> !call.contains(" create("));
        assertEquals(2, made.size());
        made.removeAll(Loaded.calls(Loaded.ours("org.redisson.Redisson")));
        assertEquals(Set.of(), made);
    }

    @Test
    void every_exception_is_here_but_those_of_clusters() throws Exception {
        int seen = 0;
        for (String name : Loaded.classesIn(Loaded.redissonsJar())) {
            boolean wanted = name.matches("org\\.redisson\\.(RedissonShutdown|client\\.\\w+|command\\.NoSyncedSlaves)Exception");
            if (!wanted || name.matches(".*\\.Redis(Redirect|Moved|Ask)Exception")) {
                continue;
            }
            seen++;
            assertEquals(Set.of(), missing(name), name);
            assertEquals(Loaded.redissons(name).getSuperclass().getName(), Loaded.ours(name).getSuperclass().getName(), name);
        }
        assertTrue(seen >= 20, seen + " exceptions");
    }

    @Test
    void what_is_not_set_is_as_in_redisson() throws Exception {
        Map<String, String> theirs = defaults(Loaded.redissons("org.redisson.config.Config"));
        Map<String, String> ours = defaults(Loaded.ours("org.redisson.config.Config"));
        theirs.keySet().retainAll(ours.keySet());
        ours.keySet().retainAll(theirs.keySet());
        assertTrue(theirs.size() > 50, theirs.size() + " settings");
        assertEquals(theirs, ours);
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
            names.addAll(supertypes(type.getSuperclass()));
        }
        return names;
    }

    /** What the getters of a new configuration and of its server give, as far as it is a number, a text or a word. */
    private static Map<String, String> defaults(Class<?> type) throws Exception {
        Map<String, String> values = new TreeMap<>();
        Object config = type.getConstructor().newInstance();
        for (Object each : List.of(config, type.getMethod("useSingleServer").invoke(config))) {
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

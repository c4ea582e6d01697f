package io.redlatch.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.util.ReflectionUtils;
import reactor.core.publisher.Flux;

/** Annotations that cannot be served: the start of the application tells which, and what to do. */
class MistakesTest {
    static class BadWait {
        @DistributedLock(name = "a", waitTime = "soon")
        public void run() {}
    }

    static class NegativeWait {
        @DistributedLock(name = "a", waitTime = "-5s")
        public void run() {}
    }

    static class ShortLease {
        @DistributedLock(name = "a", leaseTime = "0s")
        public void run() {}
    }

    static class BadExpression {
        @DistributedLock(name = "a:#{id +}")
        public void run(String id) {}
    }

    static class OpenExpression {
        @DistributedLock(name = "a:#{id")
        public void run(String id) {}
    }

    static class NoName {
        @DistributedLock(name = "${none:}")
        public void run() {}
    }

    static class NoProperty {
        @DistributedLock(name = "a", waitTime = "${none}")
        public void run() {}
    }

    static class Primitive {
        @DistributedLock(name = "a", onBusy = OnBusy.SKIP)
        public int run() {
            return 1;
        }
    }

    static class Final {
        @DistributedLock(name = "a")
        public final void run() {}
    }

    static class Private {
        @DistributedLock(name = "a")
        private void run() {}
    }

    static class Static {
        @DistributedLock(name = "a")
        public static void run() {}
    }

    static class Fluxes {
        @DistributedLock(name = "a")
        public Flux<String> run() {
            return Flux.empty();
        }
    }

    static class Futures {
        @DistributedLock(name = "a")
        public Future<String> run() {
            return null;
        }
    }

    /** A good method beside it hides nothing. */
    static class Second {
        @DistributedLock(name = "a")
        public void aGoodOne() {}

        @DistributedLock(name = "a", waitTime = "soon")
        public void run() {}
    }

    static List<Object[]> mistakes() {
        return List.of(new Object[] {BadWait.class, "waitTime `soon`", "PT5S"}, new Object[] {NegativeWait.class, "waitTime `-5s`", "0s"},
                new Object[] {ShortLease.class, "leaseTime `0s`", "leave it out"}, new Object[] {BadExpression.class, "`a:#{id +}`", "order:#{id}"},
                new Object[] {OpenExpression.class, "`a:#{id`", "order:#{id}"}, new Object[] {NoName.class, "empty", "order:#{id}"},
                new Object[] {NoProperty.class, "`${none}`", "${name:5s}"}, new Object[] {Primitive.class, "int", "Integer"}, new Object[] {Final.class, "final", "leave final out"},
                new Object[] {Private.class, "private", "public"}, new Object[] {Static.class, "static", "public"},
                new Object[] {Fluxes.class, "reactor.core.publisher.Flux", "Mono"},
                new Object[] {Futures.class, "java.util.concurrent.Future", "CompletableFuture"},
                new Object[] {Second.class, "waitTime `soon`", "PT5S"});
    }

    private static String refused(Class<?> bean) {
        try (AnnotationConfigApplicationContext application = new AnnotationConfigApplicationContext()) {
            application.registerBean(PropertySourcesPlaceholderConfigurer.class);
            application.register(DistributedLockAutoConfiguration.class, bean);
            return Apps.cause(InvalidDistributedLockException.class, assertThrows(Exception.class, application::refresh)).getMessage();
        }
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void a_mistake_ends_the_start(Class<?> bean, String value, String remedy) {
        String told = refused(bean);
        assertTrue(told.contains(bean.getName() + ".run") && told.contains(value) && told.contains(remedy), told);
    }

    /** Compiles a class, and loads it. */
    private static Class<?> compiled(Path directory, String name, String source, String... options) throws Exception {
        Path file = Files.writeString(directory.resolve(name.substring(name.lastIndexOf('.') + 1) + ".java"), source);
        String[] arguments = Stream.concat(Arrays.stream(options), Stream.of("-proc:none", "-d", directory.toString(), "-cp",
                directory + File.pathSeparator + System.getProperty("java.class.path"), file.toString())).toArray(String[]::new);
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments));
        return new URLClassLoader(new URL[] {directory.toUri().toURL()}).loadClass(name);
    }

    @Test
    void a_class_without_the_names_of_its_parameters_is_told_to_be_compiled_with_them(@TempDir Path directory) throws Exception {
        Class<?> bean = compiled(directory, "Nameless", "public class Nameless { @io.redlatch.spring.DistributedLock(name = \"a:#{id}\")"
                + " public void run(String id) {} }", "-g:none");
        String told = refused(bean);
        assertTrue(told.contains("Nameless.run") && told.contains("-parameters"), told);
    }

    @Test
    void a_suspending_function_is_refused(@TempDir Path directory) throws Exception {
        compiled(directory, "kotlin.coroutines.Continuation", "package kotlin.coroutines; public interface Continuation<T> {}");
        Class<?> bean = compiled(directory, "Suspending", "public class Suspending { @io.redlatch.spring.DistributedLock(name = \"a\")"
                + " public Object run(kotlin.coroutines.Continuation<? super String> end) { return null; } }", "-parameters");
        assertTrue(refused(bean).contains("suspending function of Kotlin"));
    }

    static class Typing {
        @DistributedLock(name = "a:#{ident}")
        public void typing(String id) {}

        @DistributedLock(name = "a:#{id}")
        public void object(Object id) {}
    }

    @Test
    void a_name_that_no_parameter_has_is_told_with_those_that_there_are() throws Exception {
        LockedMethods methods = new LockedMethods(new DefaultListableBeanFactory());
        LockedMethod typing = methods.find(ReflectionUtils.findMethod(Typing.class, "typing", String.class), Typing.class);
        String told = assertThrows(InvalidDistributedLockException.class, () -> typing.name(new Object[] {"1"})).getMessage();
        assertTrue(told.contains("`a:#{ident}`") && told.contains("the parameters are id"), told);
        LockedMethod object = methods.find(ReflectionUtils.findMethod(Typing.class, "object", Object.class), Typing.class);
        told = assertThrows(InvalidDistributedLockException.class, () -> object.name(new Object[] {new Object()})).getMessage();
        assertTrue(told.contains("order.id"), told);
        assertEquals("a:7", object.name(new Object[] {7L}));
    }

    /** An editor completes the properties that there are. */
    @Test
    void the_metadata_has_each_property() throws Exception {
        Set<String> names = Arrays.stream(RedlatchProperties.class.getMethods()).filter(method -> method.getName().startsWith("set"))
                .map(method -> "redlatch." + method.getName().substring(3).replaceAll("(?<=[a-z])([A-Z])", "-$1").toLowerCase(Locale.ROOT))
                .collect(Collectors.toCollection(TreeSet::new));
        names.add("redlatch.lock-registry.prefix");
        StringBuilder ours = new StringBuilder();
        for (URL each : Collections.list(RedlatchProperties.class.getClassLoader().getResources("META-INF/spring-configuration-metadata.json"))) {
            try (InputStream content = each.openStream()) {
                ours.append(each.getPath().contains("redlatch-spring") ? new String(content.readAllBytes(), StandardCharsets.UTF_8) : "");
            }
        }
        for (String name : names) {
            assertTrue(Pattern.compile("\"name\": \"" + name + "\", \"type\": \"java[^}]*\"description\"").matcher(ours).find(), name);
        }
    }
}

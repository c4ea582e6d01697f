package io.redlatch.spring;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** An application without transactions, Reactor, Actuator, Spring Data and Spring Integration. */
class BareTest {
    private static final Pattern KEPT = Pattern.compile(
            "(spring-boot|spring-boot-autoconfigure|spring-core|spring-context|spring-beans|spring-aop|spring-expression|spring-jcl"
                    + "|commons-logging|jspecify|micrometer-(observation|commons)|slf4j-api|redlatch|redlatch-spring-boot-starter)-[0-9].*[.]jar");

    @Test
    void the_annotation_works_without_the_optional_parts() throws Exception {
        String classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(each -> !each.endsWith(".jar") || KEPT.matcher(Path.of(each).getFileName().toString()).matches())
                .collect(Collectors.joining(File.pathSeparator));
        assertFalse(classPath.contains("spring-tx") || classPath.contains("reactor"), classPath);
        Process process = new ProcessBuilder(ProcessHandle.current().info().command().orElse("java"), "-cp", classPath, Bare.class.getName(),
                "--redlatch.url=" + Server.shared().url()).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(output.contains("locked: true"), output);
    }
}

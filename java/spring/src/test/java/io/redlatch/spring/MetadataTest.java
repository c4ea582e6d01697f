package io.redlatch.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The jar names its auto-configurations with their conditions, so that a start need not read the classes of those that it leaves out. */
class MetadataTest {
    private static final String LIST = "META-INF/spring/org.springframework.boot.autoconfigure.AutoConfiguration.imports";
    private static final String METADATA = "META-INF/spring-autoconfigure-metadata.properties";

    @Test
    void each_auto_configuration_is_written_down_with_the_classes_that_it_needs() throws IOException {
        Properties written = new Properties();
        written.load(new StringReader(ofJar(METADATA)));
        Set<String> classes = written.stringPropertyNames().stream().filter(name -> written.getProperty(name).isEmpty()).collect(Collectors.toSet());
        assertEquals(ofJar(LIST).lines().collect(Collectors.toSet()), classes);
        assertEquals("org.springframework.integration.support.locks.LockRegistry",
                written.getProperty(LockRegistryAutoConfiguration.class.getName() + ".ConditionalOnClass"));
    }

    /** Other jars have files of these names as well. */
    private static String ofJar(String name) throws IOException {
        String jar = "jar:" + RedlatchAutoConfiguration.class.getProtectionDomain().getCodeSource().getLocation() + "!/" + name;
        try (InputStream content = URI.create(jar).toURL().openStream()) {
            return new String(content.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}

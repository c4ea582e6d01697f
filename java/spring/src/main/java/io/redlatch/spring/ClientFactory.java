package io.redlatch.spring;

import io.redlatch.Options;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Objects;
import org.redisson.Connecting;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;

/** Makes the client of what the application's properties say. */
final class ClientFactory {
    static final String TEXT = "spring.redis.redisson.config";
    static final String FILE = "spring.redis.redisson.file";

    private final RedlatchProperties properties;
    private final Environment environment;
    private final ResourceLoader resources;
    private final List<RedlatchCustomizer> customizers;
    private final List<ServerDetails> details;

    ClientFactory(RedlatchProperties properties, Environment environment, ResourceLoader resources, List<RedlatchCustomizer> customizers,
            List<ServerDetails> details) {
        this.properties = properties;
        this.environment = environment;
        this.resources = resources;
        this.customizers = customizers;
        this.details = details;
    }

    RedissonClient client() {
        String url = properties.getUrl();
        if (url != null && !url.isBlank()) {
            return ofUrl(url.trim());
        }
        Config config = config();
        if (properties.getLazy() != null) {
            config.setLazyInitialization(properties.getLazy());
        }
        if (properties.isReleaseOnShutdown()) {
            Options.releaseOnShutdown(config);
        }
        customizers.forEach(each -> each.customize(config));
        return Redisson.create(config);
    }

    private RedissonClient ofUrl(String url) {
        if (!customizers.isEmpty()) {
            throw new IllegalArgumentException("redlatch.url is set, and its options stand in it, behind a `?`; so the RedlatchCustomizer "
                    + customizers.get(0).getClass().getName() + " has nothing to change: remove it, or name the server by spring.data.redis.*");
        }
        RedissonClient client = Connecting.connect(url, Boolean.TRUE.equals(properties.getLazy()));
        return properties.isReleaseOnShutdown() ? Options.releaseOnShutdown(client) : client;
    }

    private Config config() {
        String text = environment.getProperty(TEXT);
        if (text != null && !text.isBlank()) {
            return read(TEXT, () -> Config.fromYAML(text));
        }
        String file = environment.getProperty(FILE);
        if (file != null && !file.isBlank()) {
            Resource resource = resources.getResource(file.trim());
            return read(FILE + "=" + file.trim(), () -> {
                try (InputStream content = resource.getInputStream()) {
                    return Config.fromYAML(content);
                }
            });
        }
        SpringDataRedis properties = Binder.get(environment).bindOrCreate("spring.data.redis", Bindable.of(SpringDataRedis.class));
        SpringDataRedis redis = details.stream().map(each -> each.over(properties)).filter(Objects::nonNull).findFirst().orElse(properties);
        if (redis.hasBundle() && customizers.isEmpty()) {
            throw new IllegalArgumentException("the servers of spring.data.redis have a bundle of certificates (ssl.bundle), and the native"
                    + " library cannot read a bundle of Spring; name the certificates by a"
                    + " RedlatchCustomizer (config.setSslTruststore, setSslKeystore), or by redlatch.url with its options");
        }
        return redis.config();
    }

    private interface Reading {
        Config read() throws IOException;
    }

    private static Config read(String property, Reading reading) {
        try {
            return reading.read();
        } catch (FileNotFoundException e) {
            throw new IllegalArgumentException(property + " cannot be found; write classpath:redisson.yaml, or file:/etc/app/redisson.yaml", e);
        } catch (IOException | RuntimeException e) {
            throw new IllegalArgumentException(property + " cannot be read: " + e.getMessage(), e);
        }
    }
}

package org.redisson.config;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Writes a text for {@link ConfigReader}: every setting that is not null; a setting that has moved only if it was set. */
final class ConfigWriter {
    /** Setters that change other settings, which are written instead. */
    private static final Set<String> NOT_WRITTEN = Set.of("retryInterval", "sslEnableEndpointIdentification", "failedSlaveCheckInterval");
    private static final Map<Class<?>, String> MODES = Map.of(SingleServerConfig.class, "singleServerConfig", ClusterServersConfig.class,
            "clusterServersConfig", SentinelServersConfig.class, "sentinelServersConfig", ReplicatedServersConfig.class,
            "replicatedServersConfig", MasterSlaveServersConfig.class, "masterSlaveServersConfig");

    private ConfigWriter() {}

    static String yaml(Config config) {
        StringBuilder yaml = new StringBuilder();
        settings(config).forEach((name, value) -> {
            yaml.append(name).append(':');
            if (value instanceof BaseConfig) {
                settings((BaseConfig<?>) value).forEach((inner, each) ->
                        yaml.append("\n  ").append(inner).append(": ").append(flow(each, false)));
            } else {
                yaml.append(' ').append(flow(value, false));
            }
            yaml.append('\n');
        });
        return yaml.toString();
    }

    static String json(Config config) {
        return flow(settings(config), true);
    }

    private static Map<String, Object> settings(Config config) {
        Map<String, Object> settings = settings(config, config.kept);
        if (config.servers() != null) {
            settings.put(MODES.get(config.servers().getClass()), config.servers());
        }
        return settings;
    }

    private static Map<String, Object> settings(BaseConfig<?> servers) {
        return settings(servers, servers.kept);
    }

    private static Map<String, Object> settings(Object bean, Kept kept) {
        Map<String, Object> settings = new TreeMap<>();
        Map<String, Method> getters = Bean.getters(bean.getClass());
        Bean.setters(bean.getClass()).forEach((name, setter) -> {
            boolean moved = setter.isAnnotationPresent(Deprecated.class) && kept.get(name, null) == null;
            Object value = moved || NOT_WRITTEN.contains(name) || !getters.containsKey(name) ? null : Bean.call(getters.get(name), bean);
            if (value != null) {
                settings.put(name, value);
            }
        });
        return settings;
    }

    /** In one line; a type is a tag in YAML, and a value named {@code class} in JSON. */
    private static String flow(Object value, boolean json) {
        if (value instanceof Number || value instanceof Boolean) {
            return value.toString();
        }
        if (value instanceof Collection || value.getClass().isArray()) {
            Collection<?> items = value instanceof Collection ? (Collection<?>) value : Arrays.asList((Object[]) value);
            return items.stream().map(item -> flow(item, json)).collect(Collectors.joining(", ", "[", "]"));
        }
        if (value instanceof Map) {
            return ((Map<?, ?>) value).entrySet().stream().map(entry -> quoted(entry.getKey()) + ": " + flow(entry.getValue(), json))
                    .collect(Collectors.joining(", ", "{", "}"));
        }
        if (value instanceof BaseConfig) {
            return flow(settings((BaseConfig<?>) value), json);
        }
        String text = value.getClass().getName().startsWith("java.") || value instanceof Enum ? quoted(value) : null;
        return text != null ? text : typed(value, json);
    }

    private static String typed(Object value, boolean json) {
        Map<String, Object> settings = new LinkedHashMap<>();
        if (json) {
            settings.put("class", value.getClass().getName());
        }
        Set<String> setters = Bean.setters(value.getClass()).keySet();
        Bean.getters(value.getClass()).forEach((name, getter) -> {
            Object each = setters.contains(name) || value instanceof DelayStrategy ? Bean.call(getter, value) : null;
            if (each != null) {
                settings.put(name, each);
            }
        });
        return (json ? "" : "!<" + value.getClass().getName() + "> ") + flow(settings, json);
    }

    private static String quoted(Object value) {
        String text = value instanceof Enum ? ((Enum<?>) value).name() : value.toString();
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}

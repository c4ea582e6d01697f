package org.redisson.config;

import io.redlatch.internal.Document;
import io.redlatch.internal.Log;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.function.Function;

/** Makes a {@link Config} of a file: its names are those of the setters, and unknown names are passed over. */
final class ConfigReader {
    private static final Map<String, Function<Config, BaseConfig<?>>> MODES = Map.of("singleServerConfig", Config::useSingleServer,
            "clusterServersConfig", Config::useClusterServers, "sentinelServersConfig", Config::useSentinelServers,
            "replicatedServersConfig", Config::useReplicatedServers, "masterSlaveServersConfig", Config::useMasterSlaveServers);

    private final Values values;

    private ConfigReader(ClassLoader loader) {
        values = new Values(loader, this::apply);
    }

    /**
     * Reads YAML or JSON.
     *
     * @param loader where the classes of tags are found; null for that of the thread
     * @throws IllegalArgumentException for a text that cannot be read, and for a value that a setting cannot take; the message names the place
     */
    static Config read(String text, ClassLoader loader) {
        Document root = Document.read(text);
        if (root.entries() == null) {
            throw new IllegalArgumentException("the configuration is a " + (root.items() == null ? "text" : "list")
                    + ", it must have names and values, as in `singleServerConfig: {address: \"redis://host:6379\"}`");
        }
        Config config = new Config();
        new ConfigReader(loader).apply(root, config, "");
        return config;
    }

    private void apply(Document map, Object bean, String path) {
        Map<String, Method> setters = Bean.setters(bean.getClass());
        map.entries().forEach((name, value) -> {
            Method setter = setters.get(name);
            if (bean instanceof Config && MODES.containsKey(name)) {
                servers(MODES.get(name), (Config) bean, value, name);
            } else if (setter != null) {
                set(setter, bean, value, path + name);
            } else if (!name.equals("class")) {
                Log.debug("config", "the configuration has the setting " + path + name + ", which is not known here and is passed over");
            }
        });
    }

    private void servers(Function<Config, BaseConfig<?>> mode, Config config, Document value, String name) {
        if (value.entries() != null) {
            apply(value, mode.apply(config), name + ".");
        } else if (!value.isNull()) {
            throw new IllegalArgumentException(name + " is no map; write its settings below it, two blanks deeper");
        }
    }

    private void set(Method setter, Object bean, Document value, String path) {
        if (value.isNull() && setter.getParameterTypes()[0].isPrimitive()) {
            return;
        }
        Object made = values.make(value, setter.getGenericParameterTypes()[0], path);
        if (made != Values.PASSED_OVER) {
            Bean.call(setter, bean, made);
        }
    }
}

package org.redisson.config;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/** The library's own access to configurations, out of the sight of its users. */
public final class ConfigAccess {
    private ConfigAccess() {}

    /** The true addresses of servers by those that they announce, as hosts or as hosts with ports; null: a program decides. */
    public static Map<String, String> addresses(NatMapper mapper) {
        if (!mapper.getClass().getName().startsWith("org.redisson.")) {
            return mapper instanceof DefaultNatMapper ? Map.of() : null;
        }
        if (mapper instanceof HostPortNatMapper) {
            return ((HostPortNatMapper) mapper).addresses();
        }
        return mapper instanceof HostNatMapper ? ((HostNatMapper) mapper).hosts() : Map.of();
    }

    /**
     * The servers of a configuration, of any mode.
     *
     * @throws IllegalArgumentException if none is configured
     */
    public static BaseConfig<?> servers(Config config) {
        if (config.servers() == null) {
            throw new IllegalArgumentException(
                    "no server address is configured; call config.useSingleServer().setAddress(\"redis://host:6379\")");
        }
        return config.servers();
    }

    /** The names of the settings without effect that were set. */
    public static Set<String> idle(Config config) {
        Set<String> names = new TreeSet<>(config.kept.idle());
        names.addAll(servers(config).kept.idle());
        return names;
    }

    /** See {@link io.redlatch.Options#quarantine}. */
    public static void quarantine(Config config) {
        config.quarantine();
    }

    /** See {@link io.redlatch.Options#turn}. */
    public static void turn(Config config, Duration time) {
        config.turn = Objects.requireNonNull(time, "time");
    }

    /** The time that {@link io.redlatch.Options#turn} has set, or null. */
    public static Duration turn(Config config) {
        return config.turn;
    }
}

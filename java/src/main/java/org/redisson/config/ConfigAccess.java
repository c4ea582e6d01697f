package org.redisson.config;

/** What the library does with configurations, out of the sight of its users. */
public final class ConfigAccess {
    private ConfigAccess() {}

    /**
     * The servers of a configuration, of whatever mode.
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

    /** See {@link io.redlatch.Options#quarantine}. */
    public static void quarantine(Config config) {
        config.quarantine();
    }
}

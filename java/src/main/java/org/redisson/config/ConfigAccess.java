package org.redisson.config;

/** What the library does with configurations, out of the sight of its users. */
public final class ConfigAccess {
    private ConfigAccess() {}

    /**
     * The server of a configuration.
     *
     * @throws IllegalArgumentException if none is named
     * @throws UnsupportedOperationException for modes that are not served, by name
     */
    public static SingleServerConfig server(Config config) {
        BaseConfig<?> servers = config.servers();
        if (servers != null && !(servers instanceof SingleServerConfig)) {
            throw new UnsupportedOperationException("the mode \"" + servers.mode() + "\" (" + servers.getClass().getSimpleName()
                    + ") is not served yet; name one server with config.useSingleServer().setAddress(\"redis://host:6379\")");
        }
        if (servers == null || config.useSingleServer().getAddress() == null) {
            throw new IllegalArgumentException(
                    "no server address is configured; call config.useSingleServer().setAddress(\"redis://host:6379\")");
        }
        return config.useSingleServer();
    }
}

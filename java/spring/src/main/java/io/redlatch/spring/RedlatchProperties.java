package io.redlatch.spring;

import org.springframework.boot.context.properties.ConfigurationProperties;

/** The properties below {@code redlatch}. */
@ConfigurationProperties("redlatch")
public class RedlatchProperties {
    private final LockRegistry lockRegistry = new LockRegistry();
    private String url;
    private Boolean lazy;
    private boolean releaseOnShutdown = true;

    /**
     * Where the locks are, as {@link io.redlatch.Redlatch#connect(String)} takes it. Without it the client is that of
     * {@code spring.redis.redisson.config} or {@code .file}, else that of {@code spring.data.redis.*}.
     */
    public String getUrl() {
        return url;
    }

    /** See {@link #getUrl()}. */
    public void setUrl(String url) {
        this.url = url;
    }

    /**
     * Whether the first call connects, and not the start of the application. Not set: as Redisson's configuration says, and otherwise the start
     * connects and fails without a server.
     */
    public Boolean getLazy() {
        return lazy;
    }

    /** See {@link #getLazy()}. */
    public void setLazy(Boolean lazy) {
        this.lazy = lazy;
    }

    /** Whether locks that are still held when the application ends are given back; true by default. Else they end with their leases. */
    public boolean isReleaseOnShutdown() {
        return releaseOnShutdown;
    }

    /** See {@link #isReleaseOnShutdown()}. */
    public void setReleaseOnShutdown(boolean releaseOnShutdown) {
        this.releaseOnShutdown = releaseOnShutdown;
    }

    /** The registry for Spring Integration. */
    public LockRegistry getLockRegistry() {
        return lockRegistry;
    }

    /** The properties below {@code redlatch.lock-registry}. */
    public static class LockRegistry {
        private String prefix = "integration:";

        /** The text before a key in the name of its lock; {@code integration:} by default. */
        public String getPrefix() {
            return prefix;
        }

        /** See {@link #getPrefix()}. */
        public void setPrefix(String prefix) {
            this.prefix = prefix;
        }
    }
}

package org.redisson.config;

/** Everything that a client needs to know. A client takes a copy; later changes are without effect. */
public class Config {
    private SingleServerConfig singleServer;
    private String username;
    private String password;
    private long lockWatchdogTimeout = 30000;
    private boolean lazyInitialization;
    private int threads = 16;
    private int nettyThreads = 32;

    /** The defaults, without a server. */
    public Config() {}

    /** @param other what to copy */
    public Config(Config other) {
        singleServer = other.singleServer == null ? null : new SingleServerConfig(other.singleServer);
        username = other.username;
        password = other.password;
        lockWatchdogTimeout = other.lockWatchdogTimeout;
        lazyInitialization = other.lazyInitialization;
        threads = other.threads;
        nettyThreads = other.nettyThreads;
    }

    /** One server; further calls return the same configuration of it. */
    public SingleServerConfig useSingleServer() {
        if (singleServer == null) {
            singleServer = new SingleServerConfig();
        }
        return singleServer;
    }

    /** Whether {@link #useSingleServer} was called. */
    public boolean isSingleConfig() {
        return singleServer != null;
    }

    /** The user to log in as; none by default. */
    public Config setUsername(String username) {
        this.username = username;
        return this;
    }

    /** The user to log in as, or null. */
    public String getUsername() {
        return username;
    }

    /** The password to log in with; none by default. */
    public Config setPassword(String password) {
        this.password = password;
        return this;
    }

    /** The password to log in with, or null. */
    public String getPassword() {
        return password;
    }

    /**
     * The lease, in ms, of holds that are renewed until release; 30000 by default, 100 at least. They are renewed every third of it, and end
     * this long after the death of their process.
     */
    public Config setLockWatchdogTimeout(long lockWatchdogTimeout) {
        this.lockWatchdogTimeout = lockWatchdogTimeout;
        return this;
    }

    /** The lease of holds that are renewed, in ms. */
    public long getLockWatchdogTimeout() {
        return lockWatchdogTimeout;
    }

    /** Whether the first call connects, and not {@code Redisson.create}; false by default. */
    public Config setLazyInitialization(boolean lazyInitialization) {
        this.lazyInitialization = lazyInitialization;
        return this;
    }

    /** Whether the first call connects. */
    public boolean isLazyInitialization() {
        return lazyInitialization;
    }

    /** Without meaning here: there is one I/O thread. Kept so that configurations compile; default 16. */
    public Config setThreads(int threads) {
        this.threads = threads;
        return this;
    }

    /** What was set. */
    public int getThreads() {
        return threads;
    }

    /** Without meaning here: there is one I/O thread. Kept so that configurations compile; default 32. */
    public Config setNettyThreads(int nettyThreads) {
        this.nettyThreads = nettyThreads;
        return this;
    }

    /** What was set. */
    public int getNettyThreads() {
        return nettyThreads;
    }
}

package org.redisson.config;

import io.redlatch.Options;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;
import org.redisson.client.DefaultCredentialsResolver;
import org.redisson.client.codec.Codec;
import org.redisson.codec.Kryo5Codec;

/** Everything that a client needs to know. A client takes a copy; later changes are without effect. */
public class Config extends RuntimeSettings<Config> implements Options.Extended {
    private BaseConfig<?> servers;
    private boolean releaseOnShutdown;

    /** The defaults, without a server. */
    public Config() {}

    /** @param other what to copy; a codec that it lacks is {@link Kryo5Codec} in the copy */
    public Config(Config other) {
        servers = other.servers == null ? null : other.servers.copy();
        releaseOnShutdown = other.releaseOnShutdown;
        kept.putAll(other.kept);
        if (getCodec() == null) {
            setCodec(new Kryo5Codec());
        }
    }

    @Override
    Config self() {
        return this;
    }

    /** What the servers are, or null. */
    BaseConfig<?> servers() {
        return servers;
    }

    /**
     * One server; further calls return the same configuration of it.
     *
     * @throws IllegalStateException if another mode was chosen before; so in all of them
     */
    public SingleServerConfig useSingleServer() {
        return use(SingleServerConfig.class, SingleServerConfig::new);
    }

    /** A cluster. {@code Redisson.create} refuses it: it is not served yet. */
    public ClusterServersConfig useClusterServers() {
        return use(ClusterServersConfig.class, ClusterServersConfig::new);
    }

    /** A master with replicas, as sentinels have it. {@code Redisson.create} refuses it: it is not served yet. */
    public SentinelServersConfig useSentinelServers() {
        return use(SentinelServersConfig.class, SentinelServersConfig::new);
    }

    /** Servers one of which is the master. {@code Redisson.create} refuses it: it is not served yet. */
    public ReplicatedServersConfig useReplicatedServers() {
        return use(ReplicatedServersConfig.class, ReplicatedServersConfig::new);
    }

    /** A master and replicas that never change. {@code Redisson.create} refuses it: it is not served yet. */
    public MasterSlaveServersConfig useMasterSlaveServers() {
        return use(MasterSlaveServersConfig.class, MasterSlaveServersConfig::new);
    }

    private <C extends BaseConfig<?>> C use(Class<C> mode, Supplier<C> made) {
        if (servers == null) {
            servers = made.get();
        }
        if (!mode.isInstance(servers)) {
            throw new IllegalStateException(servers.mode() + " config already used! Make another Config for another mode");
        }
        return mode.cast(servers);
    }

    /** Whether {@link #useSingleServer} was called. */
    public boolean isSingleConfig() {
        return servers instanceof SingleServerConfig;
    }

    /** Whether {@link #useClusterServers} was called. */
    public boolean isClusterConfig() {
        return servers instanceof ClusterServersConfig;
    }

    /** Whether {@link #useSentinelServers} was called. */
    public boolean isSentinelConfig() {
        return servers instanceof SentinelServersConfig;
    }

    /** The user to log in as; none by default. */
    public Config setUsername(String username) {
        kept.put("username", username);
        return this;
    }

    /** The user to log in as, or null. */
    public String getUsername() {
        return kept.get("username", null);
    }

    /** The password to log in with; none by default. */
    public Config setPassword(String password) {
        kept.put("password", password);
        return this;
    }

    /** The password to log in with, or null. */
    public String getPassword() {
        return kept.get("password", null);
    }

    /** Where user and password come from where they are not set. It is asked once, by {@code Redisson.create}. */
    public Config setCredentialsResolver(CredentialsResolver credentialsResolver) {
        kept.put("credentialsResolver", credentialsResolver);
        return this;
    }

    /** Where user and password come from; by default a resolver that names nobody. */
    public CredentialsResolver getCredentialsResolver() {
        return kept.get("credentialsResolver", new DefaultCredentialsResolver());
    }

    /**
     * The lease, in ms, of holds that are renewed until release; 30000 by default, 100 at least. They are renewed every third of it, and
     * end this long after the death of their process.
     */
    public Config setLockWatchdogTimeout(long lockWatchdogTimeout) {
        kept.put("lockWatchdogTimeout", lockWatchdogTimeout);
        return this;
    }

    /** The lease of holds that are renewed, in ms. */
    public long getLockWatchdogTimeout() {
        return kept.get("lockWatchdogTimeout", 30000L);
    }

    /** Whether the first call connects, and not {@code Redisson.create}; false by default. */
    public Config setLazyInitialization(boolean lazyInitialization) {
        kept.put("lazyInitialization", lazyInitialization);
        return this;
    }

    /** Whether the first call connects. */
    public boolean isLazyInitialization() {
        return kept.get("lazyInitialization", false);
    }

    @Override
    public void releaseOnShutdown() {
        releaseOnShutdown = true;
    }

    /** Whether clients give back what they hold when they are shut down, see {@link Options}; false by default. */
    public boolean isReleaseOnShutdown() {
        return releaseOnShutdown;
    }

    /** What names are on the server; as they are by default. It goes before that of the server's configuration. */
    public Config setNameMapper(NameMapper nameMapper) {
        kept.put("nameMapper", Objects.requireNonNull(nameMapper, "nameMapper can't be null"));
        return this;
    }

    /** What names are on the server. */
    public NameMapper getNameMapper() {
        return kept.get("nameMapper", NameMapper.direct());
    }

    /**
     * Only the default can be had: scripts name their commands.
     *
     * @throws UnsupportedOperationException for anything else
     */
    public Config setCommandMapper(CommandMapper commandMapper) {
        Unsupported.unlessDirect(commandMapper);
        return this;
    }

    /** One that leaves names as they are. */
    public CommandMapper getCommandMapper() {
        return CommandMapper.direct();
    }

    /** Where listeners and the continuations of futures run; on threads of the library by default. It is not shut down with the client. */
    public Config setExecutor(ExecutorService executor) {
        kept.put("executor", executor);
        return this;
    }

    /** Where listeners and the continuations of futures run, or null. */
    public ExecutorService getExecutor() {
        return kept.get("executor", null);
    }

    /** How the values of a multi lock by group become bytes; null, the default, is {@link Kryo5Codec}. Locks by name encode nothing. */
    public Config setCodec(Codec codec) {
        kept.put("codec", codec);
        return this;
    }

    /** What was set, or null; in the configuration of a client never null. */
    public Codec getCodec() {
        return kept.get("codec", null);
    }
}

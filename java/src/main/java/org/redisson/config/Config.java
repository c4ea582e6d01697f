package org.redisson.config;

import io.redlatch.Options;
import io.redlatch.internal.ExtendedOptions;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.function.Supplier;
import org.redisson.codec.Kryo5Codec;

/** The settings of a client. A client takes a copy; later changes have no effect on it. */
public class Config extends ClientSettings<Config> implements ExtendedOptions {
    private BaseConfig<?> servers;
    private boolean releaseOnShutdown;
    private boolean quarantine;
    /** See {@link Options#turn}; null: that of the address, or the default. */
    Duration turn;

    /** The defaults, without a server. */
    public Config() {}

    /** @param other the configuration to copy; a codec that it lacks is {@link Kryo5Codec} in the copy */
    public Config(Config other) {
        servers = other.servers == null ? null : other.servers.copy();
        releaseOnShutdown = other.releaseOnShutdown;
        quarantine = other.quarantine;
        turn = other.turn;
        kept.putAll(other.kept);
        if (getCodec() == null) {
            setCodec(new Kryo5Codec());
        }
    }

    @Override
    Config self() {
        return this;
    }

    /** The servers, or null. */
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

    /** A cluster. */
    public ClusterServersConfig useClusterServers() {
        return use(ClusterServersConfig.class, ClusterServersConfig::new);
    }

    /** A master with replicas, as sentinels have it. */
    public SentinelServersConfig useSentinelServers() {
        return use(SentinelServersConfig.class, SentinelServersConfig::new);
    }

    /** Servers one of which is the master: the one that says so itself. */
    public ReplicatedServersConfig useReplicatedServers() {
        return use(ReplicatedServersConfig.class, ReplicatedServersConfig::new);
    }

    /** A master and replicas that never change; locks are the master's alone. */
    public MasterSlaveServersConfig useMasterSlaveServers() {
        return use(MasterSlaveServersConfig.class, MasterSlaveServersConfig::new);
    }

    private <C extends BaseConfig<?>> C use(Class<C> mode, Supplier<C> made) {
        if (servers == null) {
            servers = made.get();
        }
        if (!mode.isInstance(servers)) {
            throw new IllegalStateException("this configuration is of " + servers.mode() + " servers already; make another Config for other ones");
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

    /**
     * A configuration out of YAML, or JSON, which YAML contains: the names are those of the setters, {@code singleServerConfig} and the
     * like hold those of the servers, and a tag names the class of a value, as in {@code retryDelay:
     * !<org.redisson.config.ConstantDelay> {delay: PT1S}}. First, everywhere in the text, {@code ${NAME}} and {@code ${NAME:-default}}
     * become the system property of that name, else the variable of the environment, else the default. Names that are not known are
     * passed over.
     *
     * @throws IllegalArgumentException for a text that cannot be read, with the line, or a value that a setting cannot take, with its name
     */
    public static Config fromYAML(String content) {
        return ConfigReader.read(content, null);
    }

    /** As {@link #fromYAML(String)}, in UTF-8; the stream is not closed. */
    public static Config fromYAML(InputStream inputStream) {
        try {
            return fromYAML(new String(inputStream.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As {@link #fromYAML(String)}, in UTF-8. */
    public static Config fromYAML(File file) throws IOException {
        return fromYAML(file, null);
    }

    /** As {@link #fromYAML(File)}, with classes from {@code classLoader}. */
    public static Config fromYAML(File file, ClassLoader classLoader) throws IOException {
        return ConfigReader.read(Files.readString(file.toPath()), classLoader);
    }

    /** As {@link #fromYAML(String)}, in UTF-8. */
    public static Config fromYAML(URL url) throws IOException {
        try (InputStream in = url.openStream()) {
            return fromYAML(in);
        }
    }

    /** As {@link #fromYAML(String)}; the reader is not closed. */
    public static Config fromYAML(Reader reader) throws IOException {
        StringWriter content = new StringWriter();
        reader.transferTo(content);
        return fromYAML(content.toString());
    }

    /** A text for {@link #fromYAML(String)}: every setting but those that are null, passwords as well. */
    public String toYAML() throws IOException {
        return ConfigWriter.yaml(this);
    }

    /** @deprecated as {@link #fromYAML(String)}, which reads JSON as well */
    @Deprecated
    public static Config fromJSON(String content) throws IOException {
        return fromYAML(content);
    }

    /** @deprecated as {@link #fromYAML(InputStream)}, which reads JSON as well */
    @Deprecated
    public static Config fromJSON(InputStream inputStream) throws IOException {
        return fromYAML(inputStream);
    }

    /** @deprecated as {@link #fromYAML(File)}, which reads JSON as well */
    @Deprecated
    public static Config fromJSON(File file) throws IOException {
        return fromYAML(file);
    }

    /** @deprecated as {@link #fromYAML(File, ClassLoader)}, which reads JSON as well */
    @Deprecated
    public static Config fromJSON(File file, ClassLoader classLoader) throws IOException {
        return fromYAML(file, classLoader);
    }

    /** @deprecated as {@link #fromYAML(URL)}, which reads JSON as well */
    @Deprecated
    public static Config fromJSON(URL url) throws IOException {
        return fromYAML(url);
    }

    /** @deprecated as {@link #fromYAML(Reader)}, which reads JSON as well */
    @Deprecated
    public static Config fromJSON(Reader reader) throws IOException {
        return fromYAML(reader);
    }

    /** @deprecated use {@link #toYAML} */
    @Deprecated
    public String toJSON() throws IOException {
        return ConfigWriter.json(this);
    }

    @Override
    public void releaseOnShutdown() {
        releaseOnShutdown = true;
    }

    /** Whether clients give back what they hold when they are shut down, see {@link Options}; false by default. */
    public boolean isReleaseOnShutdown() {
        return releaseOnShutdown;
    }

    void quarantine() {
        quarantine = true;
    }

    /** Whether servers that may have lost locks grant no new ones for a while, see {@link Options}; false by default. */
    public boolean isQuarantine() {
        return quarantine;
    }
}

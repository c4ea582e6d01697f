package org.redisson.config;

import java.util.Objects;
import org.redisson.client.DefaultCredentialsResolver;

/**
 * Settings that moved from the servers to {@link Config}. They hold where those are not set.
 *
 * @param <T> the configuration itself, for chaining
 */
abstract class MovedSettings<T extends BaseConfig<T>> extends MovedTlsSettings<T> {
    /**
     * The user to log in as; none by default.
     *
     * @deprecated use {@link Config#setUsername}
     */
    @Deprecated
    public T setUsername(String username) {
        kept.put("username", username);
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public String getUsername() {
        return kept.get("username", null);
    }

    /**
     * The password to log in with; none by default.
     *
     * @deprecated use {@link Config#setPassword}
     */
    @Deprecated
    public T setPassword(String password) {
        kept.put("password", password);
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public String getPassword() {
        return kept.get("password", null);
    }

    /**
     * The source of user and password.
     *
     * @deprecated use {@link Config#setCredentialsResolver}
     */
    @Deprecated
    public T setCredentialsResolver(CredentialsResolver credentialsResolver) {
        kept.put("credentialsResolver", credentialsResolver);
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public CredentialsResolver getCredentialsResolver() {
        return kept.get("credentialsResolver", new DefaultCredentialsResolver());
    }

    /**
     * Makes the names on the server.
     *
     * @deprecated use {@link Config#setNameMapper}
     */
    @Deprecated
    public T setNameMapper(NameMapper nameMapper) {
        kept.put("nameMapper", Objects.requireNonNull(nameMapper, "nameMapper is null; give one, as NameMapper.direct()"));
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public NameMapper getNameMapper() {
        return kept.get("nameMapper", NameMapper.direct());
    }

    /**
     * Only the default can be had: scripts name their commands.
     *
     * @throws UnsupportedOperationException for anything else
     * @deprecated use {@link Config#setCommandMapper}
     */
    @Deprecated
    public T setCommandMapper(CommandMapper commandMapper) {
        Unsupported.unlessDirect(commandMapper);
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public CommandMapper getCommandMapper() {
        return CommandMapper.direct();
    }

    /**
     * Without meaning here: the native library sets up its sockets; default false.
     *
     * @deprecated use {@link Config#setTcpKeepAlive}
     */
    @Deprecated
    public T setKeepAlive(boolean keepAlive) {
        kept.idle("keepAlive", keepAlive);
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public boolean isKeepAlive() {
        return kept.get("keepAlive", false);
    }

    /**
     * Without meaning here: the native library sets up its sockets; default true.
     *
     * @deprecated use {@link Config#setTcpKeepAlive}
     */
    @Deprecated
    public T setTcpKeepAlive(boolean tcpKeepAlive) {
        kept.idle("tcpKeepAlive", tcpKeepAlive);
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public boolean isTcpKeepAlive() {
        return kept.get("tcpKeepAlive", true);
    }

    /**
     * Without meaning here: the native library sets up its sockets; default 0.
     *
     * @deprecated use {@link Config#setTcpKeepAliveCount}
     */
    @Deprecated
    public T setTcpKeepAliveCount(int tcpKeepAliveCount) {
        kept.idle("tcpKeepAliveCount", tcpKeepAliveCount);
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public int getTcpKeepAliveCount() {
        return kept.get("tcpKeepAliveCount", 0);
    }

    /**
     * Without meaning here: the native library sets up its sockets; default 0.
     *
     * @deprecated use {@link Config#setTcpKeepAliveIdle}
     */
    @Deprecated
    public T setTcpKeepAliveIdle(int tcpKeepAliveIdle) {
        kept.idle("tcpKeepAliveIdle", tcpKeepAliveIdle);
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public int getTcpKeepAliveIdle() {
        return kept.get("tcpKeepAliveIdle", 0);
    }

    /**
     * Without meaning here: the native library sets up its sockets; default 0.
     *
     * @deprecated use {@link Config#setTcpKeepAliveInterval}
     */
    @Deprecated
    public T setTcpKeepAliveInterval(int tcpKeepAliveInterval) {
        kept.idle("tcpKeepAliveInterval", tcpKeepAliveInterval);
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public int getTcpKeepAliveInterval() {
        return kept.get("tcpKeepAliveInterval", 0);
    }

    /**
     * Without meaning here: the native library sets up its sockets; default 0.
     *
     * @deprecated use {@link Config#setTcpUserTimeout}
     */
    @Deprecated
    public T setTcpUserTimeout(int tcpUserTimeout) {
        kept.idle("tcpUserTimeout", tcpUserTimeout);
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public int getTcpUserTimeout() {
        return kept.get("tcpUserTimeout", 0);
    }

    /**
     * Without meaning here: the native library sets up its sockets; default true.
     *
     * @deprecated use {@link Config#setTcpNoDelay}
     */
    @Deprecated
    public T setTcpNoDelay(boolean tcpNoDelay) {
        kept.idle("tcpNoDelay", tcpNoDelay);
        return self();
    }

    /** @deprecated as the setter */
    @Deprecated
    public boolean isTcpNoDelay() {
        return kept.get("tcpNoDelay", true);
    }
}

package org.redisson.config;

import java.util.Objects;
import java.util.concurrent.ExecutorService;
import org.redisson.client.DefaultCredentialsResolver;
import org.redisson.client.codec.Codec;
import org.redisson.codec.Kryo5Codec;

/**
 * The part of {@link Config} about what a client does.
 *
 * @param <T> the configuration itself, for chaining
 */
abstract class ClientSettings<T extends Config> extends RuntimeSettings<T> {
    /** The user to log in as; none by default. */
    public T setUsername(String username) {
        kept.put("username", username);
        return self();
    }

    /** The user to log in as, or null. */
    public String getUsername() {
        return kept.get("username", null);
    }

    /** The password to log in with; none by default. */
    public T setPassword(String password) {
        kept.put("password", password);
        return self();
    }

    /** The password to log in with, or null. */
    public String getPassword() {
        return kept.get("password", null);
    }

    /** The source of a user and a password that are not set. {@code Redisson.create} asks the resolver, and asks again after each of its renewals. */
    public T setCredentialsResolver(CredentialsResolver credentialsResolver) {
        kept.put("credentialsResolver", credentialsResolver);
        return self();
    }

    /** The source of user and password; by default a resolver that names no user. */
    public CredentialsResolver getCredentialsResolver() {
        return kept.get("credentialsResolver", new DefaultCredentialsResolver());
    }

    /**
     * The lease, in ms, of holds that are renewed until release; 30000 by default, 100 at least. They are renewed every third of it, and
     * end this long after the death of their process.
     */
    public T setLockWatchdogTimeout(long lockWatchdogTimeout) {
        kept.put("lockWatchdogTimeout", lockWatchdogTimeout);
        return self();
    }

    /** The lease of holds that are renewed, in ms. */
    public long getLockWatchdogTimeout() {
        return kept.get("lockWatchdogTimeout", 30000L);
    }

    /** Whether the first call connects, and not {@code Redisson.create}; false by default. */
    public T setLazyInitialization(boolean lazyInitialization) {
        kept.put("lazyInitialization", lazyInitialization);
        return self();
    }

    /** Whether the first call connects. */
    public boolean isLazyInitialization() {
        return kept.get("lazyInitialization", false);
    }

    /** Makes the names on the server; by default the names as they are. It goes before that of the server's configuration. */
    public T setNameMapper(NameMapper nameMapper) {
        kept.put("nameMapper", Objects.requireNonNull(nameMapper, "nameMapper is null; give one, as NameMapper.direct()"));
        return self();
    }

    /** Makes the names on the server. */
    public NameMapper getNameMapper() {
        return kept.get("nameMapper", NameMapper.direct());
    }

    /**
     * Only the default can be had: scripts name their commands.
     *
     * @throws UnsupportedOperationException for anything else
     */
    public T setCommandMapper(CommandMapper commandMapper) {
        Unsupported.unlessDirect(commandMapper);
        return self();
    }

    /** A mapper that leaves names as they are. */
    public CommandMapper getCommandMapper() {
        return CommandMapper.direct();
    }

    /**
     * Runs the listeners of keys; by default, and where it refuses one, threads of the library do. Continuations of futures and the news of losses
     * never wait for it. The client's shutdown leaves the executor alone.
     */
    public T setExecutor(ExecutorService executor) {
        kept.put("executor", executor);
        return self();
    }

    /** Runs the listeners of keys; null: threads of the library do. */
    public ExecutorService getExecutor() {
        return kept.get("executor", null);
    }

    /** How the values of a multi lock by group become bytes; null, the default, is {@link Kryo5Codec}. Locks by name encode nothing. */
    public T setCodec(Codec codec) {
        kept.put("codec", codec);
        return self();
    }

    /** The value that was set, or null; in the configuration of a client never null. */
    public Codec getCodec() {
        return kept.get("codec", null);
    }
}

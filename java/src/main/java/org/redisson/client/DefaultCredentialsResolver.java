package org.redisson.client;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.redisson.config.Credentials;
import org.redisson.config.CredentialsResolver;

/** Names no user: user and password are those of the configuration. */
public final class DefaultCredentialsResolver implements CredentialsResolver {
    /** There is nothing to set. */
    public DefaultCredentialsResolver() {}

    @Override
    public CompletionStage<Credentials> resolve(InetSocketAddress address) {
        return CompletableFuture.completedFuture(new Credentials());
    }
}

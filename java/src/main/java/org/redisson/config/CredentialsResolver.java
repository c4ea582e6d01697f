package org.redisson.config;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A source of user and password. The library asks it when it makes a client, and after each renewal. */
public interface CredentialsResolver {
    /** User and password for a server; the address is null for a Unix socket. */
    CompletionStage<Credentials> resolve(InetSocketAddress address);

    /**
     * Completes when user or password have changed: the library then asks {@link #resolve} again, for connections that it opens from then on,
     * until the client is shut down.
     */
    default CompletionStage<Void> nextRenewal() {
        return new CompletableFuture<>();
    }
}

package org.redisson.config;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Where user and password come from. It is asked when a client is made, and after each renewal. */
public interface CredentialsResolver {
    /** User and password for a server; the address is null for a Unix socket. */
    CompletionStage<Credentials> resolve(InetSocketAddress address);

    /** Done when they have become others: then {@link #resolve} is asked again, and connections that are opened from then on use what it gives. */
    default CompletionStage<Void> nextRenewal() {
        return new CompletableFuture<>();
    }
}

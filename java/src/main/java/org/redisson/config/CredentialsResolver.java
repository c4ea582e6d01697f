package org.redisson.config;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Where user and password come from. It is asked once, when a client is made; what it gives holds for the client's life. */
public interface CredentialsResolver {
    /** User and password for a server; the address is null for a Unix socket. */
    CompletionStage<Credentials> resolve(InetSocketAddress address);

    /** Done when they have become others. A client does not take them over, and says so in its log. */
    default CompletionStage<Void> nextRenewal() {
        return new CompletableFuture<>();
    }
}

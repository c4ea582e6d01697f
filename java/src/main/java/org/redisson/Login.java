package org.redisson;

import io.redlatch.Log;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.redisson.client.DefaultCredentialsResolver;
import org.redisson.client.RedisConnectionException;
import org.redisson.config.Config;
import org.redisson.config.Credentials;
import org.redisson.config.CredentialsResolver;

/** Who a client is to its server: what the address says, else a resolver, else the client's configuration, else the server's. */
@SuppressWarnings("deprecation") // a server's own settings hold where the client's are not set
final class Login {
    /** What the address does not say; null where nobody says it. */
    final String username;
    final String password;

    /** @throws RedisConnectionException if the resolver fails, or does not answer within the time to connect */
    Login(Config config, Servers servers) {
        String[] said = inAddress(servers.address);
        Credentials resolved = resolve(config, servers);
        username = said[0] != null ? null : first(resolved.getUsername(), config.getUsername(), servers.settings.getUsername());
        password = said[1] != null ? null : first(resolved.getPassword(), config.getPassword(), servers.settings.getPassword());
    }

    private static String[] inAddress(String address) {
        int start = address.indexOf("://") + 3;
        int end = address.lastIndexOf('@');
        if (start < 3 || end < start) {
            return new String[2];
        }
        int colon = address.substring(start, end).indexOf(':');
        return new String[] {colon == 0 ? null : "user", colon < 0 ? null : "password"};
    }

    private static Credentials resolve(Config config, Servers servers) {
        CredentialsResolver resolver = config.getCredentialsResolver();
        if (resolver instanceof DefaultCredentialsResolver) {
            resolver = servers.settings.getCredentialsResolver();
        }
        if (resolver == null || resolver instanceof DefaultCredentialsResolver) {
            return new Credentials();
        }
        String shown = Settings.withoutLogin(servers.address);
        CompletableFuture<Credentials> answer = resolver.resolve(socket(servers.address)).toCompletableFuture();
        try {
            Credentials credentials = answer.get(servers.settings.getConnectTimeout(), TimeUnit.MILLISECONDS);
            resolver.nextRenewal().thenRun(() -> Log.warn("the credentials for " + shown + " were renewed; this client keeps those of its "
                    + "start, make another one before the server refuses them"));
            return credentials == null ? new Credentials() : credentials;
        } catch (ExecutionException e) {
            throw new RedisConnectionException("the credentialsResolver failed for " + shown, e.getCause());
        } catch (TimeoutException e) {
            throw new RedisConnectionException("the credentialsResolver did not answer for " + shown + " within "
                    + servers.settings.getConnectTimeout() + " ms, the connectTimeout", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RedisConnectionException("interrupted while the credentialsResolver was asked for " + shown, e);
        }
    }

    /** Null for a Unix socket. */
    private static InetSocketAddress socket(String address) {
        URI uri = URI.create(address);
        return uri.getHost() == null ? null : new InetSocketAddress(uri.getHost(), uri.getPort() < 0 ? 6379 : uri.getPort());
    }

    private static String first(String... values) {
        for (String value : values) {
            if (value != null) {
                return value;
            }
        }
        return null;
    }
}

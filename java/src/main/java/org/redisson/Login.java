package org.redisson;

import io.redlatch.internal.Core;
import io.redlatch.internal.Log;
import io.redlatch.internal.Shown;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.redisson.client.DefaultCredentialsResolver;
import org.redisson.client.RedisConnectionException;
import org.redisson.config.Config;
import org.redisson.config.Credentials;
import org.redisson.config.CredentialsResolver;

/** A client's login: that of the address, else of a resolver, else of the client's configuration, else of the server's. */
@SuppressWarnings("deprecation") // a server's own settings hold where the client's are not set
final class Login {
    private final Config config;
    private final Servers servers;
    /** Null: the configuration has the login. */
    private final CredentialsResolver resolver;
    /** Null: the address has no user. */
    private final String userInAddress;
    private final boolean isPasswordInAddress;
    /** The half of the login that the address lacks; null if no configuration has it either. */
    final String username;
    final String password;

    /** @throws RedisConnectionException if the resolver fails, or does not answer within the time to connect */
    Login(Config config, Servers servers) {
        this.config = config;
        this.servers = servers;
        resolver = resolver();
        String login = inAddress(servers.address);
        userInAddress = user(login);
        isPasswordInAddress = login.indexOf(':') >= 0;
        Credentials resolved = resolve();
        username = userInAddress != null ? null : user(resolved);
        password = isPasswordInAddress ? null : first(resolved.getPassword(), config.getPassword(), servers.settings.getPassword());
    }

    /**
     * Has the client take over the resolver's login after each of its renewals, until it is shut down. A login in the address stays.
     *
     * @throws RedisConnectionException if the resolver fails to tell of its next renewal
     */
    void follow(Core core) {
        if (resolver != null && !isPasswordInAddress) {
            try {
                Following.begin(this, core);
            } catch (RuntimeException e) {
                throw failed(e);
            }
        }
    }

    /** The renewals of one client. The resolver's futures refer to this, which refers to nothing of a client that was shut down. */
    private static final class Following {
        /** Null: the client was shut down. */
        private volatile Login login;
        private volatile Core core;

        static void begin(Login login, Core core) {
            Following following = new Following();
            following.login = login;
            following.core = core;
            core.atEnd(following::end);
            following.next(login);
        }

        private void end() {
            login = null;
            core = null;
        }

        private void next(Login of) {
            CompletionStage<Void> renewal = of.resolver.nextRenewal();
            if (renewal == null || renewal.toCompletableFuture().isDone()) {
                return; // no resolver tells of a renewal, or it tells of the same one for ever
            }
            renewal.whenComplete((renewed, error) -> {
                Login now = login;
                if (now != null) {
                    now.resolveAnew(error).whenComplete(this::take);
                }
            });
        }

        private void take(Credentials credentials, Throwable error) {
            Login to = login;
            Core client = core;
            if (to == null || client == null) {
                return;
            }
            to.use(client, credentials, error);
            try {
                next(to);
            } catch (RuntimeException e) {
                Log.warn("link", "the credentialsResolver failed for " + Shown.url(to.servers.address) + ", it is asked no more: " + e);
            }
        }
    }

    /** @param failure why the renewal failed; null: it did not */
    private CompletionStage<Credentials> resolveAnew(Throwable failure) {
        if (failure != null) {
            return CompletableFuture.failedFuture(failure);
        }
        try {
            return Objects.requireNonNull(resolver.resolve(socket(servers.address)), "it has no answer");
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void use(Core core, Credentials credentials, Throwable error) {
        if (error != null || credentials == null) {
            Log.warn("link", "the credentialsResolver gave nothing new for " + Shown.url(servers.address) + ", the old ones stay: " + error);
            return;
        }
        try {
            core.credentials(userInAddress != null ? userInAddress : user(credentials), credentials.getPassword());
        } catch (IllegalArgumentException unusable) {
            Log.warn("link", "the credentialsResolver gave what is no login for " + Shown.url(servers.address) + ", the old one stays: "
                    + unusable.getMessage());
        }
    }

    private RedisConnectionException failed(Throwable cause) {
        return new RedisConnectionException("the credentialsResolver failed for " + Shown.url(servers.address), cause);
    }

    private String user(Credentials resolved) {
        return first(resolved.getUsername(), config.getUsername(), servers.settings.getUsername());
    }

    /** The part between the scheme and the {@code @}; empty if there is none. */
    private static String inAddress(String address) {
        int start = address.indexOf("://") + 3;
        int end = address.lastIndexOf('@');
        return start < 3 || end < start ? "" : address.substring(start, end);
    }

    /** The user in front of the colon of a login; null if there is none. */
    private static String user(String login) {
        int colon = login.indexOf(':');
        String user = colon < 0 ? login : login.substring(0, colon);
        return user.isEmpty() ? null : URLDecoder.decode(user.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    private CredentialsResolver resolver() {
        CredentialsResolver first = config.getCredentialsResolver();
        CredentialsResolver second = first instanceof DefaultCredentialsResolver ? servers.settings.getCredentialsResolver() : first;
        return second instanceof DefaultCredentialsResolver ? null : second;
    }

    private Credentials resolve() {
        if (resolver == null) {
            return new Credentials();
        }
        String shown = Shown.url(servers.address);
        InetSocketAddress socket = socket(servers.address);
        try {
            Credentials credentials = resolver.resolve(socket).toCompletableFuture().get(servers.settings.getConnectTimeout(), TimeUnit.MILLISECONDS);
            return credentials == null ? new Credentials() : credentials;
        } catch (ExecutionException e) {
            throw failed(e.getCause());
        } catch (RuntimeException e) {
            throw failed(e);
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
        URI uri;
        try {
            uri = new URI(address);
        } catch (URISyntaxException e) {
            // The exception has the whole text, password included, so it is no cause.
            throw new IllegalArgumentException("the address " + Shown.url(address) + " cannot be read: " + e.getReason());
        }
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

package io.redlatch.spring;

import io.redlatch.internal.Shown;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.List;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;
import org.redisson.config.ReplicatedServersConfig;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SingleServerConfig;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties below {@code spring.data.redis}, with Boot's meaning: a URL goes before host, port, login and database; sentinels go before a
 * cluster, and that before a single server. Boot's own class has another package in each generation.
 */
record SpringDataRedis(String url, @DefaultValue("localhost") String host, @DefaultValue("6379") int port, String username, String password,
        @DefaultValue("0") int database, @DefaultValue Ssl ssl, Duration timeout, Duration connectTimeout, String clientName, Sentinel sentinel,
        Cluster cluster, Masterreplica masterreplica) {
    /** Below {@code ssl}. */
    record Ssl(Boolean enabled, String bundle) {}

    /** Below {@code sentinel}. */
    record Sentinel(String master, List<String> nodes, String username, String password) {}

    /** Below {@code cluster}. */
    record Cluster(List<String> nodes) {}

    /** Below {@code masterreplica}, from Boot 4.0 on. */
    record Masterreplica(List<String> nodes) {}

    /** These settings with the login and TLS of another place, and without servers. */
    SpringDataRedis login(String name, String secret, boolean tls) {
        return new SpringDataRedis(null, null, 0, name, secret, 0, new Ssl(tls, tls ? "RedisConnectionDetails" : null), timeout, connectTimeout,
                clientName, null, null, null);
    }

    SpringDataRedis standalone(String place, int number, int base) {
        return new SpringDataRedis(null, place, number, username, password, base, ssl, timeout, connectTimeout, clientName, null, null, null);
    }

    SpringDataRedis sentinel(int base, Sentinel sentinels) {
        return new SpringDataRedis(null, null, 0, username, password, base, ssl, timeout, connectTimeout, clientName, sentinels, null, null);
    }

    SpringDataRedis cluster(List<String> nodes) {
        return new SpringDataRedis(null, null, 0, username, password, 0, ssl, timeout, connectTimeout, clientName, null, new Cluster(nodes), null);
    }

    SpringDataRedis masterReplica(List<String> nodes) {
        return new SpringDataRedis(null, null, 0, username, password, 0, ssl, timeout, connectTimeout, clientName, null, null,
                new Masterreplica(nodes));
    }

    /** @throws IllegalArgumentException for a property that cannot be used; the text has its name */
    Config config() {
        Config config = new Config();
        URI uri = text(url) ? uri() : null;
        String[] login = uri == null ? new String[] {username, password} : login(uri);
        if (text(login[0])) {
            config.setUsername(login[0]);
        }
        if (text(login[1])) {
            config.setPassword(login[1]);
        }
        String scheme = tls(uri) ? "rediss://" : "redis://";
        BaseConfig<?> servers = servers(config, scheme, uri, uri == null ? database : database(uri));
        if (timeout != null) {
            servers.setTimeout(ms("timeout", timeout));
        }
        if (connectTimeout != null) {
            servers.setConnectTimeout(ms("connect-timeout", connectTimeout));
        }
        if (text(clientName)) {
            servers.setClientName(clientName);
        }
        return config;
    }

    /** The certificates of a bundle are Java's objects, which the native library does not see. */
    boolean hasBundle() {
        return ssl.bundle() != null && !ssl.bundle().isBlank();
    }

    private BaseConfig<?> servers(Config config, String scheme, URI uri, int number) {
        if (sentinel != null) {
            if (!text(sentinel.master())) {
                throw new IllegalArgumentException("spring.data.redis.sentinel.master is empty; name the master that the sentinels watch");
            }
            SentinelServersConfig sentinels = config.useSentinelServers().setMasterName(sentinel.master()).setDatabase(number);
            sentinels.addSentinelAddress(addresses("sentinel", scheme, sentinel.nodes()));
            if (text(sentinel.username())) {
                sentinels.setSentinelUsername(sentinel.username());
            }
            if (text(sentinel.password())) {
                sentinels.setSentinelPassword(sentinel.password());
            }
            return sentinels;
        }
        if (cluster != null) {
            return config.useClusterServers().addNodeAddress(addresses("cluster", scheme, cluster.nodes()));
        }
        if (masterreplica != null) {
            ReplicatedServersConfig replicated = config.useReplicatedServers().setDatabase(number);
            return replicated.addNodeAddress(addresses("masterreplica", scheme, masterreplica.nodes()));
        }
        SingleServerConfig single = config.useSingleServer().setDatabase(number);
        return single.setAddress(uri == null ? scheme + place(host) + ":" + port
                : scheme + uri.getHost() + ":" + (uri.getPort() < 0 ? 6379 : uri.getPort()));
    }

    private boolean tls(URI uri) {
        return uri != null && uri.getScheme().equals("rediss") || (ssl.enabled() != null ? ssl.enabled() : hasBundle());
    }

    private URI uri() {
        URI uri;
        try {
            uri = new URI(url);
        } catch (URISyntaxException e) {
            // The exception has the whole text, password included, so it is no cause.
            throw new IllegalArgumentException("spring.data.redis.url, " + Shown.url(url) + ", cannot be read: " + e.getReason()
                    + "; write redis://user:password@host:6379/0, with %XX for special characters");
        }
        boolean known = "redis".equals(uri.getScheme()) || "rediss".equals(uri.getScheme());
        if (!known || uri.getHost() == null) {
            throw new IllegalArgumentException("spring.data.redis.url, " + Shown.url(url) + ", names no "
                    + (known ? "host" : "scheme redis or rediss") + "; write redis://user:password@host:6379/0, or put"
                    + " URLs of other forms into redlatch.url");
        }
        return uri;
    }

    /** As Boot reads it: without a colon it is the password. */
    private static String[] login(URI uri) {
        String both = uri.getUserInfo();
        int colon = both == null ? -1 : both.indexOf(':');
        return colon < 0 ? new String[] {null, both} : new String[] {both.substring(0, colon), both.substring(colon + 1)};
    }

    private static int database(URI uri) {
        String path = uri.getPath() == null ? "" : uri.getPath().replaceFirst("^/", "");
        try {
            return path.isEmpty() ? 0 : Integer.parseInt(path);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("spring.data.redis.url has the path `/" + path + "`, which is no database; write /0 to /15");
        }
    }

    private static String[] addresses(String mode, String scheme, List<String> nodes) {
        if (nodes == null || nodes.isEmpty()) {
            throw new IllegalArgumentException("spring.data.redis." + mode + ".nodes is empty; name one at least, as host:6379");
        }
        return nodes.stream().map(node -> scheme + node.trim()).toArray(String[]::new);
    }

    /** An IPv6 address in brackets. */
    static String place(String host) {
        return host.indexOf(':') >= 0 && !host.startsWith("[") ? "[" + host + "]" : host;
    }

    private static int ms(String name, Duration time) {
        long ms = time.toMillis();
        if (ms < 1 || ms > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("spring.data.redis." + name + " is " + time + "; give a time from 1 ms to 24 days, as 3s");
        }
        return (int) ms;
    }

    private static boolean text(String value) {
        return value != null && !value.isEmpty();
    }
}

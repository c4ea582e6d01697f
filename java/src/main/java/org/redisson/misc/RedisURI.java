package org.redisson.misc;

import io.redlatch.internal.Shown;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Objects;

/** Where a server is: {@code redis://[user:password@]host:port}, or a Unix socket. */
public final class RedisURI {
    /** The beginning of an address. */
    public static final String REDIS_PROTOCOL = "redis://";
    /** The same with TLS. */
    public static final String REDIS_SSL_PROTOCOL = "rediss://";
    /** The same of a Unix socket. */
    public static final String REDIS_UDS_PROTOCOL = "redis+uds://";
    /** Another word for {@link #REDIS_PROTOCOL}. */
    public static final String VALKEY_PROTOCOL = "valkey://";
    /** Another word for {@link #REDIS_SSL_PROTOCOL}. */
    public static final String VALKEY_SSL_PROTOCOL = "valkeys://";
    /** Another word for {@link #REDIS_UDS_PROTOCOL}. */
    public static final String VALKEY_UDS_PROTOCOL = "valkey+uds://";

    private final String scheme;
    private final String host;
    private final int port;
    private final String username;
    private final String password;

    /** @throws IllegalArgumentException if that is no address of a server */
    public RedisURI(String uri) {
        URI parsed = parsed(uri);
        scheme = parsed.getScheme();
        boolean socket = scheme != null && scheme.endsWith("+uds");
        host = socket ? parsed.getPath() : parsed.getHost();
        port = socket ? 0 : parsed.getPort();
        // Of a socket the path would have the rest of a password that has a slash as it is.
        boolean unclear = socket && parsed.getRawAuthority() != null && host.indexOf('@') >= 0;
        if (scheme == null || host == null || port < 0 || unclear) {
            throw new IllegalArgumentException("the address " + Shown.url(uri) + " cannot be read; write redis://host:port");
        }
        String[] login = parsed.getUserInfo() == null ? new String[0] : parsed.getUserInfo().split(":", 2);
        username = login.length > 1 && !login[0].isEmpty() ? login[0] : null;
        password = login.length > 1 ? login[1] : null;
    }

    /** Without user and password. */
    public RedisURI(String scheme, String host, int port) {
        this.scheme = scheme;
        this.host = host;
        this.port = port;
        this.username = null;
        this.password = null;
    }

    /** Where {@code place} is, with this user and this password, either of which may be null. */
    public RedisURI(String username, String password, RedisURI place) {
        this.scheme = place.scheme;
        this.host = place.host;
        this.port = place.port;
        this.username = username;
        this.password = password;
    }

    /** Whether that can be read. */
    public static boolean isValid(String uri) {
        try {
            return !new RedisURI(uri).scheme.isEmpty();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** The part before {@code ://}. */
    public String getScheme() {
        return scheme;
    }

    /** The host, or the path of a Unix socket. */
    public String getHost() {
        return host;
    }

    /** The port; 0 of a Unix socket. */
    public int getPort() {
        return port;
    }

    /** The user, or null. */
    public String getUsername() {
        return username;
    }

    /** The password, or null. */
    public String getPassword() {
        return password;
    }

    /** Whether it is reached with TLS. */
    public boolean isSsl() {
        return scheme.equals("rediss") || scheme.equals("valkeys");
    }

    /** Whether it is a Unix socket. */
    public boolean isUDS() {
        return scheme.endsWith("+uds");
    }

    /** Whether the host is a number, and no name. */
    public boolean isIP() {
        return host.contains(":") || host.matches("[0-9.]+");
    }

    /** Whether the object exists. */
    public boolean equals(InetSocketAddress address) {
        return port == address.getPort() && (host.equals(address.getHostString())
                || address.getAddress() != null && host.equals(address.getAddress().getHostAddress()));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RedisURI && toString().equals(other.toString());
    }

    @Override
    public int hashCode() {
        return Objects.hash(scheme, host, port);
    }

    /** Without user and password. */
    @Override
    public String toString() {
        return scheme + "://" + (isUDS() ? host : (host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host) + ":" + port);
    }

    /** As {@link #toString}. */
    public String toURIString() {
        return toString();
    }

    /** The exception of the JDK has the whole text, and so must not be the cause. */
    private static URI parsed(String uri) {
        try {
            return new URI(uri);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(
                    "the address " + Shown.url(uri) + " cannot be read: " + e.getReason() + "; write redis://host:port");
        }
    }
}

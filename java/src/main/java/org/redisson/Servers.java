package org.redisson;

import io.redlatch.internal.Log;
import io.redlatch.internal.Shown;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.redisson.config.BaseConfig;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.ConfigAccess;
import org.redisson.config.Config;
import org.redisson.config.MasterSlaveServersConfig;
import org.redisson.config.NatMapper;
import org.redisson.config.ReplicatedServersConfig;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.ShardedSubscriptionMode;
import org.redisson.config.SingleServerConfig;

/** The servers of a configuration, of any mode, in the words of the core. */
final class Servers {
    private static final Pattern OTHER_SYSTEM = Pattern.compile("(?i)(mysql|mariadb|zookeeper)s?://");
    private static final Pattern SOCKET = Pattern.compile("(.+\\+)?(unix|uds)://");

    /** The settings that every mode has. */
    final BaseConfig<?> settings;
    /** One address, as it was configured; with the login, if it has one. */
    final String address;
    /** All addresses. */
    final String url;
    final int database;
    /** The settings of this mode alone, as options of the core. */
    final Map<String, String> options = new LinkedHashMap<>();

    private Servers(BaseConfig<?> settings, String mode, List<String> addresses, String path, int database) {
        if (addresses.isEmpty() || addresses.contains(null)) {
            throw new IllegalArgumentException("no server address is configured; call " + hint(settings) + "(\"redis://host:6379\")");
        }
        this.settings = settings;
        List<String> places = addresses.stream().map(Servers::place).collect(Collectors.toList());
        this.address = places.get(0);
        this.url = mode.isEmpty() ? address : joined(mode, places) + path;
        this.database = database;
    }

    /**
     * @throws IllegalArgumentException if none is named, or addresses that do not go together
     * @throws UnsupportedOperationException for a setting of a mode that this library does not support
     */
    static Servers of(Config config) {
        BaseConfig<?> settings = ConfigAccess.servers(config);
        if (settings instanceof ClusterServersConfig) {
            ClusterServersConfig cluster = (ClusterServersConfig) settings;
            Servers servers = new Servers(cluster, "cluster", cluster.getNodeAddresses(), "", cluster.getDatabase());
            nat(servers, cluster.getNatMapper());
            if (cluster.getShardedSubscriptionMode() != ShardedSubscriptionMode.AUTO) {
                servers.options.put("sharded", cluster.getShardedSubscriptionMode().name().toLowerCase(Locale.ROOT));
            }
            return servers;
        }
        if (settings instanceof SentinelServersConfig) {
            return of((SentinelServersConfig) settings);
        }
        if (settings instanceof ReplicatedServersConfig) {
            ReplicatedServersConfig replicated = (ReplicatedServersConfig) settings;
            // The program alone says where they are.
            return new Servers(replicated, "replicated", replicated.getNodeAddresses(), "", replicated.getDatabase());
        }
        if (settings instanceof MasterSlaveServersConfig) {
            // Locks are the master's; this library reads no replicas.
            MasterSlaveServersConfig fixed = (MasterSlaveServersConfig) settings;
            return new Servers(fixed, "", Collections.singletonList(fixed.getMasterAddress()), "", fixed.getDatabase());
        }
        SingleServerConfig single = (SingleServerConfig) settings;
        return new Servers(single, "", Collections.singletonList(single.getAddress()), "", single.getDatabase());
    }

    private static Servers of(SentinelServersConfig sentinels) {
        if (sentinels.getMasterName() == null) {
            throw new IllegalArgumentException("no masterName is configured; call config.useSentinelServers().setMasterName(\"mymaster\")");
        }
        List<String> addresses = sentinels.getSentinelAddresses();
        Servers servers = new Servers(sentinels, "sentinel", addresses, "/" + sentinels.getMasterName(), sentinels.getDatabase());
        nat(servers, sentinels.getNatMapper());
        Settings.put(servers.options, "sentinel_username", sentinels.getSentinelUsername());
        Settings.put(servers.options, "sentinel_password", sentinels.getSentinelPassword());
        return servers;
    }

    private static void nat(Servers servers, NatMapper mapper) {
        Map<String, String> addresses = ConfigAccess.addresses(mapper);
        if (addresses == null) {
            throw new UnsupportedOperationException("the setting natMapper cannot be " + mapper
                    + ": the native library cannot call it; use a HostPortNatMapper or a HostNatMapper");
        }
        if (!addresses.isEmpty()) {
            servers.options.put("nat", addresses.entrySet().stream().map(each -> each.getKey() + "=" + each.getValue())
                    .collect(Collectors.joining(",")));
        }
    }

    /**
     * The address without a path. As in Redisson, a path says nothing: a client that took {@code /3} for a database would share no lock with
     * Redisson's clients of that address. The path of a Unix socket is its place.
     */
    private static String place(String address) {
        if (OTHER_SYSTEM.matcher(address).lookingAt()) {
            throw new IllegalArgumentException("the address " + Shown.url(address)
                    + " is that of no Redis, and a Config is about Redis; call io.redlatch.Redlatch.connect with that URL");
        }
        int authority = address.indexOf("://") + 3;
        int path = address.indexOf('/', authority);
        int query = address.indexOf('?');
        boolean isSocket = authority >= 3 && SOCKET.matcher(address.substring(0, authority)).matches();
        // An `@` behind the path may be that of a login with a bare slash: the core refuses such an address, and names the remedy.
        if (authority < 3 || isSocket || path < 0 || query >= 0 && query < path || address.indexOf('@', path) >= 0) {
            return address;
        }
        String without = address.substring(0, path) + (query < 0 ? "" : address.substring(query));
        if (!(query < 0 ? address.substring(path) : address.substring(path, query)).equals("/")) {
            Log.warn("config", "the path of the address " + Shown.url(address)
                    + " says nothing, as in Redisson; name a database by setDatabase, and leave the path out");
        }
        return without;
    }

    /** {@code redis://a:1} and {@code redis://b:2} are {@code redis+mode://a:1,b:2}; a login is that of the first. */
    private static String joined(String mode, List<String> addresses) {
        String first = addresses.get(0);
        String scheme = first.substring(0, Math.max(first.indexOf("://"), 0));
        for (String address : addresses) {
            if (scheme.isEmpty() || !address.startsWith(scheme + "://")) {
                throw new IllegalArgumentException("the address " + Shown.url(address)
                        + " has no scheme, or another one than the first; write redis://host:6379, or rediss:// for all");
            }
        }
        String others = addresses.stream().skip(1).map(address -> "," + host(address)).collect(Collectors.joining());
        return scheme + "+" + mode + first.substring(scheme.length()).replaceAll("/+$", "") + others;
    }

    private static String host(String address) {
        String plain = Settings.withoutLogin(address);
        return plain.substring(plain.indexOf("://") + 3).replaceAll("/+$", "");
    }

    private static String hint(BaseConfig<?> settings) {
        if (settings instanceof ClusterServersConfig) {
            return "config.useClusterServers().addNodeAddress";
        }
        if (settings instanceof SentinelServersConfig) {
            return "config.useSentinelServers().addSentinelAddress";
        }
        if (settings instanceof ReplicatedServersConfig) {
            return "config.useReplicatedServers().addNodeAddress";
        }
        return settings instanceof MasterSlaveServersConfig
                ? "config.useMasterSlaveServers().setMasterAddress" : "config.useSingleServer().setAddress";
    }
}

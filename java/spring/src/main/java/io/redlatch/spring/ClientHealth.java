package io.redlatch.spring;

import io.redlatch.internal.Shown;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.CommonOptions;
import org.redisson.config.BaseConfig;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ConfigAccess;
import org.redisson.config.MasterSlaveServersConfig;
import org.redisson.config.ReplicatedServersConfig;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SingleServerConfig;

/** The health of a client, as the indicators of both generations of Boot tell it. */
final class ClientHealth {
    private static final String LOCK = "redlatch:health";

    private final RedissonClient client;
    private final Map<String, Object> details = new LinkedHashMap<>();

    /** @param url of the client, if it has no {@link Config}; else null */
    ClientHealth(RedissonClient client, String url) {
        this.client = client;
        details.put("clientId", client.getId());
        String server = server(client, url);
        if (server != null) {
            details.put("server", server);
        }
    }

    /** The id of the client, and its servers without their logins. */
    Map<String, Object> details() {
        return details;
    }

    /** Asks the server one question, once; returns if it has answered. */
    void ask() {
        client.getLock(CommonOptions.name(LOCK).retryAttempts(0)).isLocked();
    }

    private static String server(RedissonClient client, String url) {
        Config config;
        try {
            config = client.getConfig();
        } catch (UnsupportedOperationException e) {
            return url == null ? null : Shown.url(url);
        }
        return String.join(", ", addresses(ConfigAccess.servers(config)).stream().map(Shown::url).toList());
    }

    private static List<String> addresses(BaseConfig<?> servers) {
        if (servers instanceof ClusterServersConfig cluster) {
            return cluster.getNodeAddresses();
        }
        if (servers instanceof SentinelServersConfig sentinels) {
            return sentinels.getSentinelAddresses();
        }
        if (servers instanceof ReplicatedServersConfig replicated) {
            return replicated.getNodeAddresses();
        }
        return List.of(servers instanceof MasterSlaveServersConfig fixed ? fixed.getMasterAddress() : ((SingleServerConfig) servers).getAddress());
    }
}

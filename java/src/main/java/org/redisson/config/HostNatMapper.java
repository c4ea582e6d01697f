package org.redisson.config;

import java.util.Map;
import org.redisson.misc.RedisURI;

/** Replaces the hosts of some servers and keeps their ports. */
public class HostNatMapper implements NatMapper {
    private Map<String, String> hosts = Map.of();

    /** None yet. */
    public HostNatMapper() {}

    @Override
    public RedisURI map(RedisURI uri) {
        String host = hosts.get(uri.getHost());
        return host == null ? uri : new RedisURI(uri.getScheme(), host, uri.getPort());
    }

    Map<String, String> hosts() {
        return hosts;
    }

    /** The hosts to use, by the hosts that servers announce. */
    public void setHostsMap(Map<String, String> hostsMap) {
        hosts = hostsMap;
    }
}

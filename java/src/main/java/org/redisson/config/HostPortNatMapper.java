package org.redisson.config;

import java.util.Map;
import org.redisson.misc.RedisURI;

/** Replaces the hosts and ports of some servers. */
public class HostPortNatMapper implements NatMapper {
    private Map<String, String> places = Map.of();

    /** None yet. */
    public HostPortNatMapper() {}

    @Override
    public RedisURI map(RedisURI uri) {
        String place = places.get(uri.getHost() + ":" + uri.getPort());
        return place == null ? uri : new RedisURI(uri.getScheme() + "://" + place);
    }

    Map<String, String> addresses() {
        return places;
    }

    /** The {@code host:port} to use, by the one that a server announces. */
    public void setHostsPortMap(Map<String, String> hostsPortMap) {
        places = hostsPortMap;
    }
}

package org.redisson.api;

/**
 * Replaces the hosts and ports of some servers.
 *
 * @deprecated it has moved: use {@link org.redisson.config.HostPortNatMapper}
 */
@Deprecated
public class HostPortNatMapper extends org.redisson.config.HostPortNatMapper implements NatMapper {
    /** None yet. */
    public HostPortNatMapper() {}
}

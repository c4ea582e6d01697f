package org.redisson.api;

/**
 * Replaces the hosts of some servers and keeps their ports.
 *
 * @deprecated it has moved: use {@link org.redisson.config.HostNatMapper}
 */
@Deprecated
public class HostNatMapper extends org.redisson.config.HostNatMapper implements NatMapper {
    /** None yet. */
    public HostNatMapper() {}
}

package org.redisson.api;

/**
 * Other hosts and ports for some.
 *
 * @deprecated it has moved: use {@link org.redisson.config.HostPortNatMapper}
 */
@Deprecated
public class HostPortNatMapper extends org.redisson.config.HostPortNatMapper implements NatMapper {
    /** None yet. */
    public HostPortNatMapper() {}
}

package org.redisson.api;

/**
 * Leaves addresses as they are.
 *
 * @deprecated it has moved: use {@link org.redisson.config.DefaultNatMapper}
 */
@Deprecated
public class DefaultNatMapper extends org.redisson.config.DefaultNatMapper implements NatMapper {
    /** There is nothing to set. */
    public DefaultNatMapper() {}
}

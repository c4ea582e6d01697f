package org.redisson.config;

import org.redisson.misc.RedisURI;

/** Leaves addresses as they are. */
public class DefaultNatMapper implements NatMapper {
    /** There is nothing to set. */
    public DefaultNatMapper() {}

    @Override
    public RedisURI map(RedisURI uri) {
        return uri;
    }
}

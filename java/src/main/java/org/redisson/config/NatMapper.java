package org.redisson.config;

import org.redisson.misc.RedisURI;

/** Where a server is reached that says it is elsewhere. */
public interface NatMapper {
    /** The address to use for the one that was told. */
    RedisURI map(RedisURI uri);

    /** Leaves addresses as they are. */
    static NatMapper direct() {
        return new DefaultNatMapper();
    }
}

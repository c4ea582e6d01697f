package org.redisson.config;

import org.redisson.misc.RedisURI;

/** Replaces the address that a server announces by the one at which the client reaches it. */
public interface NatMapper {
    /** The address to use for the one that a server announces. */
    RedisURI map(RedisURI uri);

    /** Leaves addresses as they are. */
    static NatMapper direct() {
        return new DefaultNatMapper();
    }
}

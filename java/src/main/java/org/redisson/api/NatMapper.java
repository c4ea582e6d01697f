package org.redisson.api;

/**
 * Replaces the address that a server announces by the one at which the client reaches it.
 *
 * @deprecated it has moved: use {@link org.redisson.config.NatMapper}
 */
@Deprecated
public interface NatMapper extends org.redisson.config.NatMapper {
    /** Leaves addresses as they are. */
    static NatMapper direct() {
        return new DefaultNatMapper();
    }
}

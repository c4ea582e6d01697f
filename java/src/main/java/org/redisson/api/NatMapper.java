package org.redisson.api;

/**
 * Where a server is reached that says it is elsewhere.
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

package org.redisson.api;

/**
 * Leaves names as they are.
 *
 * @deprecated it has moved: use {@link org.redisson.config.DefaultNameMapper}
 */
@Deprecated
public class DefaultNameMapper extends org.redisson.config.DefaultNameMapper implements NameMapper {
    /** There is nothing to set. */
    public DefaultNameMapper() {}
}

package org.redisson.api;

/**
 * Makes an object's name on the server out of its name in the program, and back.
 *
 * @deprecated it has moved: use {@link org.redisson.config.NameMapper}
 */
@Deprecated
public interface NameMapper extends org.redisson.config.NameMapper {
    /** Leaves names as they are. */
    static NameMapper direct() {
        return new DefaultNameMapper();
    }
}

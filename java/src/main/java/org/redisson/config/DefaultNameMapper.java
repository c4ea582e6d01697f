package org.redisson.config;

/** Leaves names as they are. */
public class DefaultNameMapper implements NameMapper {
    /** There is nothing to set. */
    public DefaultNameMapper() {}

    @Override
    public String map(String name) {
        return name;
    }

    @Override
    public String unmap(String name) {
        return name;
    }
}

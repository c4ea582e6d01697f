package org.redisson.config;

/** Leaves names as they are. */
public class DefaultCommandMapper implements CommandMapper {
    /** There is nothing to set. */
    public DefaultCommandMapper() {}

    @Override
    public String map(String name) {
        return name;
    }
}

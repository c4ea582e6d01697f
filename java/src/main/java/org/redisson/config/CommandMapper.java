package org.redisson.config;

/** The names of commands on the server. Only their own names can be had: scripts name them. */
public interface CommandMapper {
    /** The name on the server. */
    String map(String name);

    /** Leaves names as they are. */
    static CommandMapper direct() {
        return new DefaultCommandMapper();
    }
}

package org.redisson.config;

/** Makes an object's name on the server out of its name in the program, and back. */
public interface NameMapper {
    /** The name on the server. */
    String map(String name);

    /** The name in the program. */
    String unmap(String name);

    /** Leaves names as they are. */
    static NameMapper direct() {
        return new DefaultNameMapper();
    }
}

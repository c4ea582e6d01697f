package org.redisson.api.options;

/** An object's name and how long its calls are tried. */
public interface CommonOptions extends InvocationOptions<CommonOptions> {
    /**
     * Options for the object of that name, with the client's configuration in all else.
     *
     * @throws NullPointerException if {@code name} is null
     */
    static CommonOptions name(String name) {
        return new CommonParams(name);
    }
}

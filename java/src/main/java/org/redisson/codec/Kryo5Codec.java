package org.redisson.codec;

import java.util.Set;
import org.redisson.client.codec.BaseCodec;

/** The bytes that Redisson writes when no codec was set: those of Kryo 5. Without meaning where nothing is encoded, which is every lock by name. */
public class Kryo5Codec extends BaseCodec {
    private final ClassLoader classLoader;

    /** With the class loader of this library. */
    public Kryo5Codec() {
        this(null);
    }

    /** @param classLoader where the classes of values are found */
    public Kryo5Codec(ClassLoader classLoader) {
        this.classLoader = classLoader;
    }

    /** As {@code codec}, with another class loader. */
    public Kryo5Codec(ClassLoader classLoader, Kryo5Codec codec) {
        this(classLoader);
    }

    /** Both inputs are without meaning here: this library makes no objects out of bytes. */
    public Kryo5Codec(Set<String> allowedClasses, boolean useReferences) {
        this(null);
    }

    /** All but the class loader is without meaning here: no object is made out of bytes. */
    public Kryo5Codec(ClassLoader classLoader, Set<String> allowedClasses, boolean useReferences) {
        this(classLoader);
    }

    @Override
    public ClassLoader getClassLoader() {
        return classLoader == null ? super.getClassLoader() : classLoader;
    }
}

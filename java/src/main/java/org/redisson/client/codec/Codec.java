package org.redisson.client.codec;

/** How values become bytes. Only the groups of values of {@code getMultiLock} have any; the codecs of this package are those that can be had. */
public interface Codec {
    /** The class loader of values. */
    ClassLoader getClassLoader();
}

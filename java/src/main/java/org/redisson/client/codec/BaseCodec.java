package org.redisson.client.codec;

/** The base of codecs. */
public abstract class BaseCodec implements Codec {
    /** There is nothing to set. */
    protected BaseCodec() {}

    @Override
    public ClassLoader getClassLoader() {
        return getClass().getClassLoader();
    }

    @Override
    public String toString() {
        return getClass().getName();
    }
}

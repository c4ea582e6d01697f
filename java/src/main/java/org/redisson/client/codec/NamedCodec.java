package org.redisson.client.codec;

/** A codec of Redisson that this library has not: a configuration may name it, and only what would have to encode something refuses it. */
public final class NamedCodec extends BaseCodec {
    private final String name;

    /** @param name that of its class in Redisson */
    public NamedCodec(String name) {
        this.name = name;
    }

    /** The name of its class in Redisson. */
    @Override
    public String toString() {
        return name;
    }
}

package org.redisson.client.codec;

/** A codec of Redisson that this library lacks. A configuration may name it; a lock that has to encode a value refuses it. */
public final class NamedCodec extends BaseCodec {
    private final String name;

    /** @param name the name of its class in Redisson */
    public NamedCodec(String name) {
        this.name = name;
    }

    /** The name of its class in Redisson. */
    @Override
    public String toString() {
        return name;
    }
}

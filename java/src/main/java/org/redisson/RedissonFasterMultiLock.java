package org.redisson;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.TreeSet;
import org.redisson.client.codec.Codec;
import org.redisson.client.codec.StringCodec;
import org.redisson.codec.Kryo5Codec;

/**
 * One lock of several values of a group, taken in one call: all of them or none. Two sets with a value in common exclude each other.
 * One thread may hold several sets that have no value in common; for one that has, {@code lock} throws IllegalMonitorStateException.
 *
 * <p>The name of a value on the server depends on {@link org.redisson.config.Config#setCodec the codec}: with {@link StringCodec} it
 * shares the group with Python and Rust, and with Redissons that have it too; with the default, {@link Kryo5Codec}, values are texts, and
 * other Redissons with the default share the group.
 */
public class RedissonFasterMultiLock extends RedissonLock {
    /** The mark in front of a value in Kryo's form, see the core's {@code kinds::multi}. */
    private static final char KRYO = 1;

    RedissonFasterMultiLock(Places places, String group, Collection<Object> values) {
        super(places.of(group, values(places.codec(), group, values)), "multi");
    }

    /** The values as the core appends them to the group's name. */
    private static String values(Codec codec, String group, Collection<Object> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("the multi lock of " + group + " has no values; give it at least one");
        }
        TreeSet<String> texts = new TreeSet<>();
        for (Object value : values) {
            texts.add(text(codec, value));
        }
        return "\0" + String.join("\0", texts);
    }

    private static String text(Codec codec, Object value) {
        String text = value.toString();
        if (text.indexOf(0) >= 0 || text.indexOf(KRYO) >= 0) {
            throw new IllegalArgumentException("the value " + value + " of a multi lock has U+0000 or U+0001 in it; give a text without them");
        }
        if (codec instanceof StringCodec && ((StringCodec) codec).getCharset().equals(StandardCharsets.UTF_8)) {
            return text;
        }
        if (codec instanceof Kryo5Codec && value instanceof String) {
            return KRYO + text;
        }
        throw new IllegalArgumentException("the value " + value + " of a multi lock is a " + value.getClass().getName() + ", the codec "
                + codec + "; give a String with Kryo5Codec, or use StringCodec in UTF-8 for all of them");
    }
}

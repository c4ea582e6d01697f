package org.redisson;

import io.redlatch.internal.Core;
import java.nio.charset.StandardCharsets;
import org.redisson.client.codec.Codec;

/** The place of an object of this API: its client, its name, and the limits of its calls. */
final class Place {
    final Core core;
    final Listeners listeners;
    final String name;
    final String rawName;
    final Limits limits;
    /** The raw name in UTF-8. */
    final byte[] key;
    private final Places places;

    /**
     * @param places null: the object cannot be renamed
     * @param rawName the object's name on the server
     */
    Place(Places places, Core core, Listeners listeners, String name, String rawName, Limits limits) {
        this.places = places;
        this.key = rawName.getBytes(StandardCharsets.UTF_8);
        this.core = core;
        this.listeners = listeners;
        this.name = name;
        this.rawName = rawName;
        this.limits = limits;
    }

    /** The place of an object of that name, with the same limits. */
    Place named(String other) {
        return places.of(other, limits);
    }

    /** The configured codec, else Redisson's default. */
    Codec codec() {
        return places.codec();
    }
}

package org.redisson;

import io.redlatch.Core;
import java.nio.charset.StandardCharsets;
import org.redisson.client.codec.Codec;

/** Where an object of this API is: its client, its name, and how long its calls are tried. */
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
     * @param places null: this is no object that could get another name
     * @param rawName what the object is called on the server
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

    /** Where an object of that name is, for which the same limits hold. */
    Place named(String other) {
        return places.of(other, limits);
    }

    /** The codec that Redisson would have. */
    Codec codec() {
        return places.codec();
    }
}

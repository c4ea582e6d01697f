package org.redisson;

import io.redlatch.Core;

/** Where an object of this API is: its client, its name, and how long its calls are tried. */
final class Place {
    final Core core;
    final Listeners listeners;
    final String name;
    final String rawName;
    final Limits limits;

    /** @param rawName what the object is called on the server */
    Place(Core core, Listeners listeners, String name, String rawName, Limits limits) {
        this.core = core;
        this.listeners = listeners;
        this.name = name;
        this.rawName = rawName;
        this.limits = limits;
    }
}

package org.redisson.config;

import io.redlatch.Log;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Settings by name, which need nothing but to be given back, or their default. */
final class Kept {
    private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

    private final Map<String, Object> values = new HashMap<>();

    void put(String name, Object value) {
        values.put(name, value);
    }

    /** A setting without meaning here; a debug message says so once. */
    void idle(String name, Object value) {
        put(name, value);
        if (TOLD.add(name)) {
            Log.debug("the setting " + name + " is kept, and is without meaning here");
        }
    }

    void putAll(Kept other) {
        values.putAll(other.values);
    }

    /** What was put, else {@code otherwise}. */
    @SuppressWarnings("unchecked") // each name is put and got in one pair of methods
    <V> V get(String name, V otherwise) {
        return (V) values.getOrDefault(name, otherwise);
    }
}

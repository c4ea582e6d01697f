package org.redisson.config;

import java.util.HashMap;
import java.util.Map;

/** Settings by name, which need nothing but to be given back, or their default. */
final class Kept {
    private final Map<String, Object> values = new HashMap<>();

    void put(String name, Object value) {
        values.put(name, value);
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

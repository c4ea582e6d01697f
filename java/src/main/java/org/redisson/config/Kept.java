package org.redisson.config;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Settings by name, which are kept and given back, or their defaults. */
final class Kept {
    private final Map<String, Object> values = new HashMap<>();
    private final Set<String> idle = new TreeSet<>();

    void put(String name, Object value) {
        values.put(name, value);
    }

    /** A setting without effect here; {@code Redisson.create} names it. */
    void idle(String name, Object value) {
        put(name, value);
        idle.add(name);
    }

    /** The names of the settings without effect that were set. */
    Set<String> idle() {
        return idle;
    }

    void putAll(Kept other) {
        values.putAll(other.values);
        idle.addAll(other.idle);
    }

    /** The value that was put, else {@code otherwise}. */
    @SuppressWarnings("unchecked") // each name is put and got in one pair of methods
    <V> V get(String name, V otherwise) {
        return (V) values.getOrDefault(name, otherwise);
    }
}

package io.redlatch.spring;

import java.util.HashMap;
import java.util.Map;

/** The arguments of one call by the names of their parameters: what {@code #{id}} looks into. */
final class Parameters {
    private final Map<String, Object> values = new HashMap<>();

    /** @param names null: the method has no parameters, or their names are not known */
    Parameters(String[] names, Object[] arguments) {
        for (int i = 0; names != null && i < names.length; i++) {
            values.put(names[i], arguments[i]);
        }
    }

    Map<String, Object> values() {
        return values;
    }
}

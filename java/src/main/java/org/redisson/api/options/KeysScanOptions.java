package org.redisson.api.options;

import org.redisson.api.RType;

/** Which keys are listed, and how. */
public interface KeysScanOptions {
    /** All keys. */
    static KeysScanOptions defaults() {
        return new KeysScanParams();
    }

    /** How many at most; 0: all. */
    KeysScanOptions limit(int value);

    /** Only keys whose names match, as {@code lock:*}. */
    KeysScanOptions pattern(String value);

    /** Of how many the server looks at a time, about; 0: as it likes. */
    KeysScanOptions chunkSize(int value);

    /** Only keys of that type. */
    KeysScanOptions type(RType value);
}

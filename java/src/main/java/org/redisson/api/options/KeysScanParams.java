package org.redisson.api.options;

import org.redisson.api.RType;

/** The values of {@link KeysScanOptions}. */
public final class KeysScanParams implements KeysScanOptions {
    private int limit;
    private String pattern;
    private int chunkSize;
    private RType type;

    @Override
    public KeysScanOptions limit(int value) {
        limit = value;
        return this;
    }

    @Override
    public KeysScanOptions pattern(String value) {
        pattern = value;
        return this;
    }

    @Override
    public KeysScanOptions chunkSize(int value) {
        chunkSize = value;
        return this;
    }

    @Override
    public KeysScanOptions type(RType value) {
        type = value;
        return this;
    }

    public int getLimit() {
        return limit;
    }

    public String getPattern() {
        return pattern;
    }

    public int getChunkSize() {
        return chunkSize;
    }

    public RType getType() {
        return type;
    }
}

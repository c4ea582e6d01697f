package io.redlatch.internal;

/** A list of the locks that are held, under {@link io.redlatch.Locks}. Failures are the exceptions of the {@code org.redisson} API. */
public interface LocksSource {
    /**
     * One page.
     *
     * @param next the first text of the page before; empty for the first page
     * @return its number is that of the locks; its texts are that for the next page, empty after the last one, and those of each lock
     */
    Answer page(byte[] next);

    /** The name of a lock as the application knows it. */
    String name(String rawName);
}

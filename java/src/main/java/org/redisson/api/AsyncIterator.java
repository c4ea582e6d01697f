package org.redisson.api;

import java.util.concurrent.CompletionStage;

/** An iterator whose elements come by futures, so that no thread blocks for the next one. One call at a time. */
public interface AsyncIterator<V> {
    /** Whether there is another element. */
    CompletionStage<Boolean> hasNext();

    /** The next element; fails with a {@link java.util.NoSuchElementException} behind the last one. */
    CompletionStage<V> next();
}

package org.redisson.api;

import java.util.concurrent.CompletionStage;

/** An iterator of which nobody waits for the next element. One call at a time. */
public interface AsyncIterator<V> {
    /** Whether there is another element. */
    CompletionStage<Boolean> hasNext();

    /** The next element; fails with a {@link java.util.NoSuchElementException} behind the last one. */
    CompletionStage<V> next();
}

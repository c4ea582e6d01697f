package org.redisson.api;

/** The asynchronous half of {@link RKeys}. */
public interface RKeysAsync {
    /** As {@link RKeys#count()}. */
    RFuture<Long> countAsync();

    /** As {@link RKeys#countExists(String...)}. */
    RFuture<Long> countExistsAsync(String... names);

    /** As {@link RKeys#delete(String...)}. */
    RFuture<Long> deleteAsync(String... keys);

    /** As {@link RKeys#delete(RObject...)}. */
    RFuture<Long> deleteAsync(RObject... objects);

    /** As {@link RKeys#unlink(String...)}. */
    RFuture<Long> unlinkAsync(String... keys);

    /** As {@link RKeys#touch(String...)}. */
    RFuture<Long> touchAsync(String... names);

    /** As {@link RKeys#deleteByPattern(String)}. */
    RFuture<Long> deleteByPatternAsync(String pattern);

    /** As {@link RKeys#unlinkByPattern(String)}. */
    RFuture<Long> unlinkByPatternAsync(String pattern);

    /** As {@link RKeys#flushdb()}. */
    RFuture<Void> flushdbAsync();

    /** As {@link RKeys#flushdbParallel()}. */
    RFuture<Void> flushdbParallelAsync();

    /** As {@link RKeys#flushall()}. */
    RFuture<Void> flushallAsync();

    /** As {@link RKeys#flushallParallel()}. */
    RFuture<Void> flushallParallelAsync();
}

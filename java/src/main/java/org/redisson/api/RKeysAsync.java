package org.redisson.api;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.redisson.api.options.KeysScanOptions;

/** The asynchronous half of {@link RKeys}. */
public interface RKeysAsync {
    /** As {@link RKeys#getKeys()}. */
    AsyncIterator<String> getKeysAsync();

    /** As {@link RKeys#getKeys(KeysScanOptions)}. */
    AsyncIterator<String> getKeysAsync(KeysScanOptions options);

    /** As {@link RKeys#count()}. */
    RFuture<Long> countAsync();

    /** As {@link RKeys#countExists(String...)}. */
    RFuture<Long> countExistsAsync(String... names);

    /** As {@link RKeys#randomKey()}. */
    RFuture<String> randomKeyAsync();

    /** As {@link RKeys#getType(String)}. */
    RFuture<RType> getTypeAsync(String key);

    /** As {@link RKeys#getSlot(String)}. */
    RFuture<Integer> getSlotAsync(String key);

    /** As {@link RKeys#touch(String...)}. */
    RFuture<Long> touchAsync(String... names);

    /** As {@link RKeys#rename(String, String)}. */
    RFuture<Void> renameAsync(String currentName, String newName);

    /** As {@link RKeys#renamenx(String, String)}. */
    RFuture<Boolean> renamenxAsync(String oldName, String newName);

    /** As {@link RKeys#expire(Duration, String...)}. */
    RFuture<Long> expireAsync(Duration duration, String... names);

    /** As {@link RKeys#expireAt(Instant, String...)}. */
    RFuture<Long> expireAtAsync(Instant instant, String... names);

    /** @deprecated use {@link #expireAsync(Duration, String...)} */
    @Deprecated
    RFuture<Boolean> expireAsync(String name, long timeToLive, TimeUnit timeUnit);

    /** @deprecated use {@link #expireAtAsync(Instant, String...)}; in ms since 1970 */
    @Deprecated
    RFuture<Boolean> expireAtAsync(String name, long timestamp);

    /** As {@link RKeys#clearExpire(String)}. */
    RFuture<Boolean> clearExpireAsync(String name);

    /** As {@link RKeys#remainTimeToLive(String)}. */
    RFuture<Long> remainTimeToLiveAsync(String name);

    /** As {@link RKeys#delete(String...)}. */
    RFuture<Long> deleteAsync(String... names);

    /** As {@link RKeys#delete(RObject...)}. */
    RFuture<Long> deleteAsync(RObject... objects);

    /** As {@link RKeys#unlink(String...)}. */
    RFuture<Long> unlinkAsync(String... names);

    /** As {@link RKeys#deleteByPattern(String)}. */
    RFuture<Long> deleteByPatternAsync(String pattern);

    /** As {@link RKeys#unlinkByPattern(String)}. */
    RFuture<Long> unlinkByPatternAsync(String pattern);
}

package org.redisson.api;

import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Maybe;
import io.reactivex.rxjava3.core.Single;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.redisson.api.options.KeysScanOptions;

/** The keys of the database, for RxJava: the methods of {@link RKeysAsync}, each carried out once per subscription. */
public interface RKeysRx {
    /** @deprecated as {@link RKeysAsync#expireAsync(String, long, TimeUnit)} */
    @Deprecated
    Single<Boolean> expire(String name, long timeToLive, TimeUnit timeUnit);

    /** As {@link RKeysAsync#expireAsync(Duration, String...)}. */
    Single<Long> expire(Duration duration, String... names);

    /** @deprecated as {@link RKeysAsync#expireAtAsync(String, long)} */
    @Deprecated
    Single<Boolean> expireAt(String name, long timestamp);

    /** As {@link RKeysAsync#expireAtAsync(Instant, String...)}. */
    Single<Long> expireAt(Instant instant, String... names);

    /** As {@link RKeysAsync#clearExpireAsync(String)}. */
    Single<Boolean> clearExpire(String name);

    /** As {@link RKeysAsync#renamenxAsync(String, String)}. */
    Single<Boolean> renamenx(String oldName, String newName);

    /** As {@link RKeysAsync#renameAsync(String, String)}. */
    Completable rename(String currentName, String newName);

    /** As {@link RKeysAsync#remainTimeToLiveAsync(String)}. */
    Single<Long> remainTimeToLive(String name);

    /** As {@link RKeysAsync#touchAsync(String...)}. */
    Single<Long> touch(String... names);

    /** As {@link RKeysAsync#countExistsAsync(String...)}. */
    Single<Long> countExists(String... names);

    /** As {@link RKeysAsync#getTypeAsync(String)}. */
    Single<RType> getType(String key);

    /** As {@link RKeysAsync#getKeysAsync()}. */
    Flowable<String> getKeys();

    /** As {@link RKeysAsync#getKeysAsync(KeysScanOptions)}. */
    Flowable<String> getKeys(KeysScanOptions options);

    /** @deprecated as {@link RKeys#getKeys(int)} */
    @Deprecated
    Flowable<String> getKeys(int count);

    /** @deprecated as {@link RKeys#getKeysByPattern(String)} */
    @Deprecated
    Flowable<String> getKeysByPattern(String pattern);

    /** @deprecated as {@link RKeys#getKeysByPattern(String, int)} */
    @Deprecated
    Flowable<String> getKeysByPattern(String pattern, int count);

    /** As {@link RKeysAsync#getSlotAsync(String)}. */
    Single<Integer> getSlot(String key);

    /** As {@link RKeysAsync#randomKeyAsync()}. */
    Maybe<String> randomKey();

    /** As {@link RKeysAsync#deleteByPatternAsync(String)}. */
    Single<Long> deleteByPattern(String pattern);

    /** As {@link RKeysAsync#unlinkByPatternAsync(String)}. */
    Single<Long> unlinkByPattern(String pattern);

    /** As {@link RKeysAsync#deleteAsync(String...)}. */
    Single<Long> delete(String... keys);

    /** As {@link RKeysAsync#unlinkAsync(String...)}. */
    Single<Long> unlink(String... keys);

    /** As {@link RKeysAsync#countAsync()}. */
    Single<Long> count();
}

package org.redisson.api;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.redisson.api.options.KeysScanOptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The keys of the database, for Reactor: the methods of {@link RKeysAsync}, each carried out once per subscription. */
public interface RKeysReactive {
    /** @deprecated as {@link RKeysAsync#expireAsync(String, long, TimeUnit)} */
    @Deprecated
    Mono<Boolean> expire(String name, long timeToLive, TimeUnit timeUnit);

    /** As {@link RKeysAsync#expireAsync(Duration, String...)}. */
    Mono<Long> expire(Duration duration, String... names);

    /** @deprecated as {@link RKeysAsync#expireAtAsync(String, long)} */
    @Deprecated
    Mono<Boolean> expireAt(String name, long timestamp);

    /** As {@link RKeysAsync#expireAtAsync(Instant, String...)}. */
    Mono<Long> expireAt(Instant instant, String... names);

    /** As {@link RKeysAsync#clearExpireAsync(String)}. */
    Mono<Boolean> clearExpire(String name);

    /** As {@link RKeysAsync#renamenxAsync(String, String)}. */
    Mono<Boolean> renamenx(String oldName, String newName);

    /** As {@link RKeysAsync#renameAsync(String, String)}. */
    Mono<Void> rename(String currentName, String newName);

    /** As {@link RKeysAsync#remainTimeToLiveAsync(String)}. */
    Mono<Long> remainTimeToLive(String name);

    /** As {@link RKeysAsync#touchAsync(String...)}. */
    Mono<Long> touch(String... names);

    /** As {@link RKeysAsync#countExistsAsync(String...)}. */
    Mono<Long> countExists(String... names);

    /** As {@link RKeysAsync#getTypeAsync(String)}. */
    Mono<RType> getType(String key);

    /** As {@link RKeysAsync#getKeysAsync()}. */
    Flux<String> getKeys();

    /** As {@link RKeysAsync#getKeysAsync(KeysScanOptions)}. */
    Flux<String> getKeys(KeysScanOptions options);

    /** @deprecated as {@link RKeys#getKeys(int)} */
    @Deprecated
    Flux<String> getKeys(int count);

    /** @deprecated as {@link RKeys#getKeysByPattern(String)} */
    @Deprecated
    Flux<String> getKeysByPattern(String pattern);

    /** @deprecated as {@link RKeys#getKeysByPattern(String, int)} */
    @Deprecated
    Flux<String> getKeysByPattern(String pattern, int count);

    /** As {@link RKeysAsync#getSlotAsync(String)}. */
    Mono<Integer> getSlot(String key);

    /** As {@link RKeysAsync#randomKeyAsync()}. */
    Mono<String> randomKey();

    /** As {@link RKeysAsync#deleteByPatternAsync(String)}. */
    Mono<Long> deleteByPattern(String pattern);

    /** As {@link RKeysAsync#unlinkByPatternAsync(String)}. */
    Mono<Long> unlinkByPattern(String pattern);

    /** As {@link RKeysAsync#deleteAsync(String...)}. */
    Mono<Long> delete(String... keys);

    /** As {@link RKeysAsync#unlinkAsync(String...)}. */
    Mono<Long> unlink(String... keys);

    /** As {@link RKeysAsync#countAsync()}. */
    Mono<Long> count();
}

package org.redisson.api;

import java.util.Collection;
import org.redisson.api.options.CommonOptions;
import org.redisson.api.options.KeysOptions;
import org.redisson.config.Config;

/**
 * The client with the types of Reactor; see {@link RedissonClient#reactive()}. No method here asks the server.
 */
public interface RedissonReactiveClient {
    /** As {@link RedissonClient#getLock(String)}. */
    RLockReactive getLock(String name);

    /** As {@link RedissonClient#getLock(CommonOptions)}. */
    RLockReactive getLock(CommonOptions options);

    /** As {@link RedissonClient#getSpinLock(String)}. */
    RLockReactive getSpinLock(String name);

    /** As {@link RedissonClient#getSpinLock(String, LockOptions.BackOff)}. */
    RLockReactive getSpinLock(String name, LockOptions.BackOff backOff);

    /** As {@link RedissonClient#getNonReentrantLock(String)}. */
    RLockReactive getNonReentrantLock(String name);

    /** As {@link RedissonClient#getNonReentrantLock(CommonOptions)}. */
    RLockReactive getNonReentrantLock(CommonOptions options);

    /** As {@link RedissonClient#getFairLock(String)}. */
    RLockReactive getFairLock(String name);

    /** As {@link RedissonClient#getFairLock(CommonOptions)}. */
    RLockReactive getFairLock(CommonOptions options);

    /** As {@link RedissonClient#getNonReentrantFairLock(String)}. */
    RLockReactive getNonReentrantFairLock(String name);

    /** As {@link RedissonClient#getNonReentrantFairLock(CommonOptions)}. */
    RLockReactive getNonReentrantFairLock(CommonOptions options);

    /** As {@link RedissonClient#getReadWriteLock(String)}. */
    RReadWriteLockReactive getReadWriteLock(String name);

    /** As {@link RedissonClient#getReadWriteLock(CommonOptions)}. */
    RReadWriteLockReactive getReadWriteLock(CommonOptions options);

    /** As {@link RedissonClient#getFencedLock(String)}. */
    RFencedLockReactive getFencedLock(String name);

    /** As {@link RedissonClient#getFencedLock(CommonOptions)}. */
    RFencedLockReactive getFencedLock(CommonOptions options);

    /** As {@link RedissonClient#getMultiLock(RLock...)}, of locks of this library that Reactor has. */
    RLockReactive getMultiLock(RLockReactive... locks);

    /**
     * As {@link RedissonClient#getMultiLock(RLock...)}.
     *
     * @deprecated as in Redisson: use {@link #getMultiLock(RLockReactive...)}
     */
    @Deprecated
    RLockReactive getMultiLock(RLock... locks);

    /** As {@link RedissonClient#getMultiLock(String, Collection)}. */
    RLockReactive getMultiLock(String group, Collection<Object> values);

    /**
     * As {@link RedissonClient#getRedLock(RLock...)}.
     *
     * @deprecated as in Redisson: a majority makes no lease safe against a holder that stands still; use {@link #getFencedLock(String)}
     */
    @Deprecated
    RLockReactive getRedLock(RLock... locks);

    /** As {@link RedissonClient#getSemaphore(String)}. */
    RSemaphoreReactive getSemaphore(String name);

    /** As {@link RedissonClient#getSemaphore(CommonOptions)}. */
    RSemaphoreReactive getSemaphore(CommonOptions options);

    /** As {@link RedissonClient#getPermitExpirableSemaphore(String)}. */
    RPermitExpirableSemaphoreReactive getPermitExpirableSemaphore(String name);

    /** As {@link RedissonClient#getPermitExpirableSemaphore(CommonOptions)}. */
    RPermitExpirableSemaphoreReactive getPermitExpirableSemaphore(CommonOptions options);

    /** As {@link RedissonClient#getCountDownLatch(String)}. */
    RCountDownLatchReactive getCountDownLatch(String name);

    /** As {@link RedissonClient#getCountDownLatch(CommonOptions)}. */
    RCountDownLatchReactive getCountDownLatch(CommonOptions options);

    /** As {@link RedissonClient#getKeys()}. */
    RKeysReactive getKeys();

    /** As {@link RedissonClient#getKeys(KeysOptions)}. */
    RKeysReactive getKeys(KeysOptions options);

    /**
     * As {@link RedissonClient#shutdown()}. It blocks its thread.
     *
     * @deprecated as in Redisson: use {@link RedissonClient#shutdown()}
     */
    @Deprecated
    void shutdown();

    /** As {@link RedissonClient#getConfig()}. */
    Config getConfig();

    /** As {@link RedissonClient#isShutdown()}. */
    boolean isShutdown();

    /** As {@link RedissonClient#isShuttingDown()}. */
    boolean isShuttingDown();

    /** As {@link RedissonClient#getId()}. */
    String getId();
}

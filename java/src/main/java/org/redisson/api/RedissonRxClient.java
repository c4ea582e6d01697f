package org.redisson.api;

import java.util.Collection;
import org.redisson.api.options.CommonOptions;
import org.redisson.api.options.KeysOptions;
import org.redisson.config.Config;

/**
 * The client with the types of RxJava; see {@link RedissonClient#rxJava()}. No method here asks the server.
 */
public interface RedissonRxClient {
    /** As {@link RedissonClient#getLock(String)}. */
    RLockRx getLock(String name);

    /** As {@link RedissonClient#getLock(CommonOptions)}. */
    RLockRx getLock(CommonOptions options);

    /** As {@link RedissonClient#getSpinLock(String)}. */
    RLockRx getSpinLock(String name);

    /** As {@link RedissonClient#getSpinLock(String, LockOptions.BackOff)}. */
    RLockRx getSpinLock(String name, LockOptions.BackOff backOff);

    /** As {@link RedissonClient#getNonReentrantLock(String)}. */
    RLockRx getNonReentrantLock(String name);

    /** As {@link RedissonClient#getNonReentrantLock(CommonOptions)}. */
    RLockRx getNonReentrantLock(CommonOptions options);

    /** As {@link RedissonClient#getFairLock(String)}. */
    RLockRx getFairLock(String name);

    /** As {@link RedissonClient#getFairLock(CommonOptions)}. */
    RLockRx getFairLock(CommonOptions options);

    /** As {@link RedissonClient#getNonReentrantFairLock(String)}. */
    RLockRx getNonReentrantFairLock(String name);

    /** As {@link RedissonClient#getNonReentrantFairLock(CommonOptions)}. */
    RLockRx getNonReentrantFairLock(CommonOptions options);

    /** As {@link RedissonClient#getReadWriteLock(String)}. */
    RReadWriteLockRx getReadWriteLock(String name);

    /** As {@link RedissonClient#getReadWriteLock(CommonOptions)}. */
    RReadWriteLockRx getReadWriteLock(CommonOptions options);

    /** As {@link RedissonClient#getFencedLock(String)}. */
    RFencedLockRx getFencedLock(String name);

    /** As {@link RedissonClient#getFencedLock(CommonOptions)}. */
    RFencedLockRx getFencedLock(CommonOptions options);

    /** As {@link RedissonClient#getMultiLock(RLock...)}, of locks of this library that RxJava has. */
    RLockRx getMultiLock(RLockRx... locks);

    /** As {@link RedissonClient#getMultiLock(RLock...)}. */
    RLockRx getMultiLock(RLock... locks);

    /** As {@link RedissonClient#getMultiLock(String, Collection)}. */
    RLockRx getMultiLock(String group, Collection<Object> values);

    /** As {@link RedissonClient#getRedLock(RLock...)}. */
    RLockRx getRedLock(RLock... locks);

    /** As {@link RedissonClient#getSemaphore(String)}. */
    RSemaphoreRx getSemaphore(String name);

    /** As {@link RedissonClient#getSemaphore(CommonOptions)}. */
    RSemaphoreRx getSemaphore(CommonOptions options);

    /** As {@link RedissonClient#getPermitExpirableSemaphore(String)}. */
    RPermitExpirableSemaphoreRx getPermitExpirableSemaphore(String name);

    /** As {@link RedissonClient#getPermitExpirableSemaphore(CommonOptions)}. */
    RPermitExpirableSemaphoreRx getPermitExpirableSemaphore(CommonOptions options);

    /** As {@link RedissonClient#getCountDownLatch(String)}. */
    RCountDownLatchRx getCountDownLatch(String name);

    /** As {@link RedissonClient#getCountDownLatch(CommonOptions)}. */
    RCountDownLatchRx getCountDownLatch(CommonOptions options);

    /** As {@link RedissonClient#getKeys()}. */
    RKeysRx getKeys();

    /** As {@link RedissonClient#getKeys(KeysOptions)}. */
    RKeysRx getKeys(KeysOptions options);

    /** As {@link RedissonClient#shutdown()}. It blocks its thread. */
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

package org.redisson.api;

import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.redisson.api.options.CommonOptions;
import org.redisson.api.options.KeysOptions;
import org.redisson.config.Config;

/** A client of one Redis or Valkey server. Safe for use by many threads; an application needs one per server. */
public interface RedissonClient {
    /**
     * The reentrant lock of that name. Asks nothing of the server.
     *
     * @throws NullPointerException if {@code name} is null
     */
    RLock getLock(String name);

    /**
     * The reentrant lock of the name in {@code options}, whose calls are tried as long as they say. Asks nothing of the server.
     *
     * @throws NullPointerException if {@code options} is null
     */
    RLock getLock(CommonOptions options);

    /** The spin lock of that name, which tries again after 1 ms, and up to 128 ms, as long as it is taken. Asks nothing of the server. */
    RLock getSpinLock(String name);

    /**
     * The reentrant lock of that name whose waiters ask now and then instead of being told of a release. Asks nothing of the server.
     *
     * @param backOff how long to wait between two tries; the 32nd delay of a policy is used from there on
     */
    RLock getSpinLock(String name, LockOptions.BackOff backOff);

    /**
     * The lock of that name that a thread must not acquire twice: that is an {@link IllegalMonitorStateException}. Asks nothing of the
     * server.
     */
    RLock getNonReentrantLock(String name);

    /** As {@link #getNonReentrantLock(String)}, and its calls are tried as long as {@code options} say. */
    RLock getNonReentrantLock(CommonOptions options);

    /**
     * The reentrant lock of that name that goes to the waiter which has waited longest, in any process. A waiter that died is passed over
     * after 5 s; {@code tryLock()} takes the lock only if there are no waiters. Asks nothing of the server.
     */
    RLock getFairLock(String name);

    /** As {@link #getFairLock(String)}, and its calls are tried as long as {@code options} say. */
    RLock getFairLock(CommonOptions options);

    /** The fair lock of that name that a thread must not acquire twice: that is an {@link IllegalMonitorStateException}. */
    RLock getNonReentrantFairLock(String name);

    /** As {@link #getNonReentrantFairLock(String)}, and its calls are tried as long as {@code options} say. */
    RLock getNonReentrantFairLock(CommonOptions options);

    /** The locks of that name for many readers or one writer. Asks nothing of the server. */
    RReadWriteLock getReadWriteLock(String name);

    /** As {@link #getReadWriteLock(String)}, and its calls are tried as long as {@code options} say. */
    RReadWriteLock getReadWriteLock(CommonOptions options);

    /** The semaphore of that name. Asks nothing of the server. */
    RSemaphore getSemaphore(String name);

    /** As {@link #getSemaphore(String)}, and its calls are tried as long as {@code options} say. */
    RSemaphore getSemaphore(CommonOptions options);

    /** The semaphore of that name whose permits have ids and may have leases. Asks nothing of the server. */
    RPermitExpirableSemaphore getPermitExpirableSemaphore(String name);

    /** As {@link #getPermitExpirableSemaphore(String)}, and its calls are tried as long as {@code options} say. */
    RPermitExpirableSemaphore getPermitExpirableSemaphore(CommonOptions options);

    /** The latch of that name. Asks nothing of the server. */
    RCountDownLatch getCountDownLatch(String name);

    /** As {@link #getCountDownLatch(String)}, and its calls are tried as long as {@code options} say. */
    RCountDownLatch getCountDownLatch(CommonOptions options);

    /** The reentrant lock of that name whose every hold has a number greater than all before. Asks nothing of the server. */
    RFencedLock getFencedLock(String name);

    /** As {@link #getFencedLock(String)}, and its calls are tried as long as {@code options} say. */
    RFencedLock getFencedLock(CommonOptions options);

    /**
     * One lock of all of these, of this client and of others; one that is given twice counts once. See {@link org.redisson.RedissonMultiLock}.
     *
     * @throws IllegalArgumentException if there is none, or one that is not of this library
     */
    RLock getMultiLock(RLock... locks);

    /**
     * One lock of all these values of a group; see {@link org.redisson.RedissonFasterMultiLock}.
     *
     * @throws IllegalArgumentException if there is none, or one that the configured codec cannot have here
     */
    RLock getMultiLock(String group, Collection<Object> values);

    /**
     * One lock of a majority of these, each on a server of its own; see {@link org.redisson.RedissonRedLock}.
     *
     * @deprecated as in Redisson: a majority makes no lease safe against a holder that stands still; use {@link #getFencedLock(String)}
     */
    @Deprecated
    RLock getRedLock(RLock... locks);

    /** The keys of the database, of every kind. */
    RKeys getKeys();

    /** As {@link #getKeys()}, with calls that are tried for as long as the options say. */
    RKeys getKeys(KeysOptions options);

    /**
     * This client with the types of RxJava 3. Each call makes the objects anew; they need no end of their own.
     *
     * @throws UnsupportedOperationException if {@code io.reactivex.rxjava3:rxjava} is not on the class path
     */
    RedissonRxClient rxJava();

    /**
     * This client with the types of Reactor. Each call makes the objects anew; they need no end of their own.
     *
     * @throws UnsupportedOperationException if {@code io.projectreactor:reactor-core} is not on the class path
     */
    RedissonReactiveClient reactive();

    /** The uuid under which this client holds locks. */
    String getId();

    /** A copy of this client's configuration. */
    Config getConfig();

    /**
     * Ends this client. Threads that wait for a lock get a {@link org.redisson.RedissonShutdownException}. Its holds are not given
     * back: they expire, unless {@link io.redlatch.Options#releaseOnShutdown(RedissonClient)} was asked for. A call that a server has not
     * answered by then may get that exception, too, and then the server may have carried it out or not.
     */
    void shutdown();

    /**
     * As {@link #shutdown()}, and returns after {@code timeout} at the latest: beside a server that is silent the rest goes on in the background.
     * The quiet period is without meaning.
     */
    void shutdown(long quietPeriod, long timeout, TimeUnit unit);

    /** As {@link #shutdown()} on another thread; the stage is complete when it is done. */
    CompletionStage<Void> shutdownAsync();

    /** As {@link #shutdownAsync()}, and the stage is complete after {@code timeout} at the latest. The quiet period is without meaning. */
    CompletionStage<Void> shutdownAsync(Duration quietPeriod, Duration timeout);

    /** Whether {@link #shutdown} is done. */
    boolean isShutdown();

    /** Whether {@link #shutdown} was called. */
    boolean isShuttingDown();
}

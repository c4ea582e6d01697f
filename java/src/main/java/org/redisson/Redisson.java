package org.redisson;

import io.redlatch.ClassPathConflictException;
import io.redlatch.internal.ClassPath;
import io.redlatch.internal.Core;
import io.redlatch.internal.ExtendedOptions;
import io.redlatch.internal.JobSource;
import io.redlatch.internal.Log;
import io.redlatch.internal.LeaderSource;
import io.redlatch.internal.LocksSource;
import io.redlatch.internal.OwnKinds;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.redisson.api.LockOptions;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFencedLock;
import org.redisson.api.RKeys;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.api.RedissonReactiveClient;
import org.redisson.api.RedissonRxClient;
import org.redisson.api.options.CommonOptions;
import org.redisson.api.options.KeysOptions;
import org.redisson.client.RedisConnectionException;
import org.redisson.config.Config;
import org.redisson.config.ConfigAccess;

/** Makes clients, and is one. */
public final class Redisson implements RedissonClient, ExtendedOptions, OwnKinds {
    private static final String DEFAULT_ADDRESS = "redis://127.0.0.1:6379";
    /** A kind that only servers with keys have. */
    private static final String KEY_WITHOUT_OWNER = "semaphore";

    private final Core core;
    private final Places places;
    /** Null: the URL has the options. */
    private final Config config;
    private volatile boolean releases;
    private volatile boolean shuttingDown;
    private volatile boolean shutdown;

    private Redisson(Core core, Config config) {
        this.core = core;
        this.places = new Places(core, config);
        this.config = config;
        this.releases = config.isReleaseOnShutdown();
    }

    /** A client of a URL. */
    Redisson(Core core) {
        Config defaults = new Config();
        defaults.useSingleServer();
        this.core = core;
        this.places = new Places(core, new Config(defaults)); // a copy has Redisson's default codec
        this.config = null;
    }

    /** Connects to {@code redis://127.0.0.1:6379}; see {@link #create(Config)}. */
    public static RedissonClient create() {
        Config config = new Config();
        config.useSingleServer().setAddress(DEFAULT_ADDRESS);
        return create(config);
    }

    /**
     * Connects to the servers of {@code config}, of which it takes a copy. One line at INFO (SLF4J, {@code org.redisson.config}) names the settings
     * that were set and have no effect here.
     *
     * @throws RedisConnectionException if the server cannot be reached, does not answer, or refuses the login; its cause says
     *         which. Not thrown with {@code lazyInitialization}: then the first call connects
     * @throws IllegalArgumentException for a configuration that cannot be used
     * @throws UnsupportedOperationException for settings that cannot be had, by name
     * @throws io.redlatch.NativeLibraryError if there is no native library for this platform
     * @throws ClassPathConflictException if Redisson itself is on the class path as well
     */
    public static RedissonClient create(Config config) {
        ClassPath.check(Redisson.class);
        Config copy = new Config(config);
        Servers servers = Servers.of(copy);
        Set<String> idle = ConfigAccess.idle(copy);
        if (!idle.isEmpty()) {
            Log.info("config", "settings without effect in this library: " + String.join(", ", idle)
                    + "; their Javadoc says why, and they can be left out");
        }
        return new Redisson(Connecting.connect(copy, servers), copy);
    }

    @Override
    public RLock getLock(String name) {
        return new RedissonLock(places.of(name));
    }

    @Override
    public RLock getLock(CommonOptions options) {
        return new RedissonLock(places.of(options));
    }

    @Override
    public RLock getSpinLock(String name) {
        return getSpinLock(name, LockOptions.defaults());
    }

    @Override
    public RLock getSpinLock(String name, LockOptions.BackOff backOff) {
        return new RedissonSpinLock(places.of(name), backOff);
    }

    @Override
    public RLock getNonReentrantLock(String name) {
        return new RedissonNonReentrantLock(places.of(name));
    }

    @Override
    public RLock getNonReentrantLock(CommonOptions options) {
        return new RedissonNonReentrantLock(places.of(options));
    }

    @Override
    public RLock getFairLock(String name) {
        return new RedissonFairLock(places.of(name));
    }

    @Override
    public RLock getFairLock(CommonOptions options) {
        return new RedissonFairLock(places.of(options));
    }

    @Override
    public RLock getNonReentrantFairLock(String name) {
        return new RedissonNonReentrantFairLock(places.of(name));
    }

    @Override
    public RLock getNonReentrantFairLock(CommonOptions options) {
        return new RedissonNonReentrantFairLock(places.of(options));
    }

    @Override
    public RReadWriteLock getReadWriteLock(String name) {
        return new RedissonReadWriteLock(places.of(name));
    }

    @Override
    public RReadWriteLock getReadWriteLock(CommonOptions options) {
        return new RedissonReadWriteLock(places.of(options));
    }

    @Override
    public RSemaphore getSemaphore(String name) {
        return new RedissonSemaphore(places.of(name));
    }

    @Override
    public RSemaphore getSemaphore(CommonOptions options) {
        return new RedissonSemaphore(places.of(options));
    }

    @Override
    public RPermitExpirableSemaphore getPermitExpirableSemaphore(String name) {
        return new RedissonPermitExpirableSemaphore(places.of(name));
    }

    @Override
    public RPermitExpirableSemaphore getPermitExpirableSemaphore(CommonOptions options) {
        return new RedissonPermitExpirableSemaphore(places.of(options));
    }

    @Override
    public RCountDownLatch getCountDownLatch(String name) {
        return new RedissonCountDownLatch(places.of(name));
    }

    @Override
    public RCountDownLatch getCountDownLatch(CommonOptions options) {
        return new RedissonCountDownLatch(places.of(options));
    }

    @Override
    public RFencedLock getFencedLock(String name) {
        return new RedissonFencedLock(places.of(name));
    }

    @Override
    public RFencedLock getFencedLock(CommonOptions options) {
        return new RedissonFencedLock(places.of(options));
    }

    @Override
    public RLock ownLock(String kind, String name) {
        return new RedissonLock(places.of(name), kind);
    }

    @Override
    public RFencedLock ownFencedLock(String kind, String name) {
        return new RedissonFencedLock(places.of(name), kind);
    }

    @Override
    public LeaderSource leader(String name) {
        return new RedissonLeader(places.of(name));
    }

    @Override
    public JobSource job(String lock) {
        return new RedissonJob(places.of(lock));
    }

    @Override
    public LocksSource locks(String pattern) {
        return new RedissonLocks(core, places.mapper(), pattern);
    }

    @Override
    public boolean evict(String kind, String name, String[] holders) {
        return RedissonLocks.evict(core, places.of(name), kind, holders);
    }

    @Override
    public void stats(long[] numbers) {
        if (!core.stats(numbers)) {
            throw Failures.shutDown();
        }
    }

    @Override
    public RLock getMultiLock(RLock... locks) {
        return new RedissonMultiLock(locks);
    }

    @Override
    public RLock getMultiLock(String group, Collection<Object> values) {
        return new RedissonFasterMultiLock(places, group, values);
    }

    @Override
    @Deprecated
    public RLock getRedLock(RLock... locks) {
        return new RedissonRedLock(locks);
    }

    @Override
    public RKeys getKeys() {
        return keys(Limits.OF_CLIENT);
    }

    @Override
    public RKeys getKeys(KeysOptions options) {
        return keys(places.limits(options));
    }

    private RKeys keys(Limits limits) {
        if (!core.has(KEY_WITHOUT_OWNER)) {
            throw new UnsupportedOperationException("getKeys() is not served here: the locks of this client's server end with a session, and are no keys; ask a client of Redis");
        }
        return new RedissonKeys(core, places.mapper(), limits);
    }

    @Override
    public RedissonRxClient rxJava() {
        return streams("rxJava()", "io.reactivex.rxjava3:rxjava", () -> StreamProxy.of(RedissonRxClient.class, this, new RxStreams()));
    }

    @Override
    public RedissonReactiveClient reactive() {
        return streams("reactive()", "io.projectreactor:reactor-core", () -> StreamProxy.of(RedissonReactiveClient.class, this, new ReactorStreams()));
    }

    private static <T> T streams(String call, String library, Supplier<T> made) {
        try {
            return made.get();
        } catch (NoClassDefFoundError e) {
            throw new UnsupportedOperationException(call + " needs " + library + ", which is not on the class path; add it to the dependencies", e);
        }
    }

    @Override
    public String getId() {
        return core.id();
    }

    @Override
    public Config getConfig() {
        if (config == null) {
            throw new UnsupportedOperationException("this client was connected by a URL, which has its options; there is no Config");
        }
        return new Config(config);
    }

    @Override
    public void releaseOnShutdown() {
        releases = true;
    }

    @Override
    public void shutdown() {
        shuttingDown = true;
        core.close(releases);
        shutdown = true;
    }

    @Override
    public void shutdown(long quietPeriod, long timeout, TimeUnit unit) {
        CountDownLatch end = new CountDownLatch(1); // a future would have a worker of a fork/join pool run other tasks meanwhile
        shutdownAsync().thenRun(end::countDown);
        try {
            end.await(timeout, unit);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        shutdown = true;
    }

    @Override
    public CompletionStage<Void> shutdownAsync() {
        shuttingDown = true;
        return core.closeBeside(releases).thenRun(() -> shutdown = true);
    }

    @Override
    public CompletionStage<Void> shutdownAsync(Duration quietPeriod, Duration timeout) {
        return Core.atMost(shutdownAsync().toCompletableFuture(), Times.toNanos(timeout)).thenRun(() -> shutdown = true);
    }

    @Override
    public boolean isShutdown() {
        return shutdown;
    }

    @Override
    public boolean isShuttingDown() {
        return shuttingDown;
    }
}

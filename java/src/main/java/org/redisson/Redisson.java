package org.redisson;

import io.redlatch.Answer;
import io.redlatch.ClassPathConflictException;
import io.redlatch.Core;
import io.redlatch.Options;
import io.redlatch.Request;
import io.redlatch.TokenLock;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.redisson.api.LockOptions;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.CommonOptions;
import org.redisson.api.options.CommonParams;
import org.redisson.client.RedisConnectionException;
import org.redisson.config.Config;
import org.redisson.config.SingleServerConfig;

/** Makes clients, and is one. */
public final class Redisson implements RedissonClient, Options.Extended, TokenLock.Source {
    private static final String DEFAULT_ADDRESS = "redis://127.0.0.1:6379";

    private final Core core;
    private final Listeners listeners;
    private final Config config;
    private volatile boolean releases;
    private volatile boolean shuttingDown;
    private volatile boolean shutdown;

    private Redisson(Core core, Config config) {
        this.core = core;
        this.listeners = new Listeners(core);
        this.config = config;
        this.releases = config.isReleaseOnShutdown();
    }

    /** Connects to {@code redis://127.0.0.1:6379}; see {@link #create(Config)}. */
    public static RedissonClient create() {
        Config config = new Config();
        config.useSingleServer().setAddress(DEFAULT_ADDRESS);
        return create(config);
    }

    /**
     * Connects to the server of {@code config}, of which it takes a copy.
     *
     * @throws RedisConnectionException if the server cannot be reached, does not answer, or refuses the login; its cause says
     *         which. Not thrown with {@code lazyInitialization}: then the first call connects
     * @throws IllegalArgumentException for a configuration that cannot be used
     * @throws io.redlatch.NativeLibraryError if there is no native library for this platform
     * @throws ClassPathConflictException if Redisson itself is on the class path as well
     */
    public static RedissonClient create(Config config) {
        ClassPathConflictException.check(Redisson.class);
        Config copy = new Config(config);
        SingleServerConfig server = Settings.server(copy);
        Redisson client = new Redisson(connect(copy, server), copy);
        if (!copy.isLazyInitialization()) {
            client.connect(server.getAddress());
        }
        return client;
    }

    private static Core connect(Config config, SingleServerConfig server) {
        Map<String, String> options = Settings.options(config, server);
        try (Tls tls = new Tls(config, server)) {
            options.putAll(tls.options());
            return Core.connect(server.getAddress(), options, config.getExecutor());
        }
    }

    private void connect(String address) {
        Answer answer = core.run(Request.ping());
        if (!answer.done()) {
            core.close(false);
            RuntimeException cause = Failures.of(answer, "", core.id(), RedissonBaseLock.currentThread());
            throw new RedisConnectionException("Unable to connect to Redis server: " + Settings.withoutLogin(address), cause);
        }
    }

    @Override
    public RLock getLock(String name) {
        return new RedissonLock(place(name));
    }

    @Override
    public RLock getLock(CommonOptions options) {
        return new RedissonLock(place(options));
    }

    @Override
    public RLock getSpinLock(String name) {
        return getSpinLock(name, LockOptions.defaults());
    }

    @Override
    public RLock getSpinLock(String name, LockOptions.BackOff backOff) {
        return new RedissonSpinLock(place(name), backOff);
    }

    @Override
    public RLock getNonReentrantLock(String name) {
        return new RedissonNonReentrantLock(place(name));
    }

    @Override
    public RLock getNonReentrantLock(CommonOptions options) {
        return new RedissonNonReentrantLock(place(options));
    }

    @Override
    public RLock getFairLock(String name) {
        return new RedissonFairLock(place(name));
    }

    @Override
    public RLock getFairLock(CommonOptions options) {
        return new RedissonFairLock(place(options));
    }

    @Override
    public RLock getNonReentrantFairLock(String name) {
        return new RedissonNonReentrantFairLock(place(name));
    }

    @Override
    public RLock getNonReentrantFairLock(CommonOptions options) {
        return new RedissonNonReentrantFairLock(place(options));
    }

    @Override
    public RReadWriteLock getReadWriteLock(String name) {
        return new RedissonReadWriteLock(place(name));
    }

    @Override
    public RReadWriteLock getReadWriteLock(CommonOptions options) {
        return new RedissonReadWriteLock(place(options));
    }

    @Override
    public RSemaphore getSemaphore(String name) {
        return new RedissonSemaphore(place(name));
    }

    @Override
    public RSemaphore getSemaphore(CommonOptions options) {
        return new RedissonSemaphore(place(options));
    }

    @Override
    public RCountDownLatch getCountDownLatch(String name) {
        return new RedissonCountDownLatch(place(name));
    }

    @Override
    public RCountDownLatch getCountDownLatch(CommonOptions options) {
        return new RedissonCountDownLatch(place(options));
    }

    @Override
    public RFencedLock getFencedLock(String name) {
        return new RedissonFencedLock(place(name));
    }

    @Override
    public RFencedLock getFencedLock(CommonOptions options) {
        return new RedissonFencedLock(place(options));
    }

    @Override
    public RLock tokenLock(String name) {
        return new RedissonTokenLock(place(name));
    }

    @Override
    public RLock getMultiLock(RLock... locks) {
        return new RedissonMultiLock(locks);
    }

    @Override
    @Deprecated
    public RLock getRedLock(RLock... locks) {
        return new RedissonRedLock(locks);
    }

    private Place place(String name) {
        return new Place(core, listeners, name, rawName(name), Limits.OF_CLIENT);
    }

    private Place place(CommonOptions options) {
        CommonParams params = (CommonParams) options;
        String name = params.getName();
        return new Place(core, listeners, name, rawName(name), Settings.limits(params, config.useSingleServer()));
    }

    private String rawName(String name) {
        return Settings.nameMapper(config).map(Objects.requireNonNull(name, "name can't be null"));
    }

    @Override
    public String getId() {
        return core.id();
    }

    @Override
    public Config getConfig() {
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
        shutdown();
    }

    @Override
    public CompletionStage<Void> shutdownAsync() {
        shutdown();
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<Void> shutdownAsync(Duration quietPeriod, Duration timeout) {
        return shutdownAsync();
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

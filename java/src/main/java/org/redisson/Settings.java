package org.redisson;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.redisson.api.options.CommonParams;
import org.redisson.api.options.KeysParams;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;
import org.redisson.config.ConfigAccess;
import org.redisson.config.DefaultNameMapper;
import org.redisson.config.DelayStrategy;
import org.redisson.config.NameMapper;
import org.redisson.config.SingleServerConfig;

/** A {@link Config} as the core's URL and options. */
final class Settings {
    private static final long MOST_MS = TimeUnit.DAYS.toMillis(365);
    private static final int MOST_DELAYS = 1000;

    private Settings() {}

    /** The core's options by name. */
    static Map<String, String> options(Config config, Servers servers, Login login) {
        BaseConfig<?> server = servers.settings;
        Map<String, String> options = new LinkedHashMap<>(servers.options);
        put(options, "username", login.username);
        put(options, "password", login.password);
        put(options, "client_name", server.getClientName());
        if (servers.database != 0 || servers.address.indexOf('?') >= 0) { // an option of the address must not choose another one
            options.put("database", String.valueOf(servers.database));
        }
        options.put("response_timeout", seconds("timeout", server.getTimeout(), 1));
        options.put("connect_timeout", seconds("connectTimeout", server.getConnectTimeout(), 1));
        options.put("retry_for", seconds("retryDelay", retryFor(server.getRetryAttempts(), server.getRetryDelay()), 0));
        options.put("fair_wait", seconds("fairLockWaitTimeout", config.getFairLockWaitTimeout(), 0));
        options.put("watchdog", seconds("lockWatchdogTimeout", config.getLockWatchdogTimeout(), 100));
        put(options, "sync", servers.settings instanceof SingleServerConfig ? null : sync(config));
        if (config.isQuarantine()) { // else the URL's
            options.put("quarantine", "true");
        }
        Duration turn = ConfigAccess.turn(config);
        if (turn != null) { // else the URL's
            long ms = Times.ms(turn);
            boolean isBroken = !turn.isNegative() && turn.compareTo(Duration.ofMillis(ms)) > 0; // rounded up: 0 would switch turns off
            options.put("turn", seconds("turn", isBroken ? ms + 1 : ms, 0));
        }
        return options;
    }

    /** As in Redisson, where there may be replicas: an acquire waits for every connected replica, and one must confirm. */
    private static String sync(Config config) {
        if (config.getSlavesSyncTimeout() == 0) {
            return null;
        }
        String within = seconds("slavesSyncTimeout", config.getSlavesSyncTimeout(), 1);
        return "connected(replicas=" + (config.isCheckLockSyncedSlaves() ? 1 : 0) + ",within=" + within + ")";
    }

    /** The mapper of the {@code Config}; if that is the default one, the mapper of the servers. */
    @SuppressWarnings("deprecation")
    static NameMapper nameMapper(Config config) {
        NameMapper mapper = config.getNameMapper();
        return mapper instanceof DefaultNameMapper ? ConfigAccess.servers(config).getNameMapper() : mapper;
    }

    /** The limits of these options, filled in from the servers' configuration. */
    static Limits limits(CommonParams options, BaseConfig<?> server) {
        return limits(options.getTimeout(), options.getRetryAttempts(), options.getRetryDelay(), server);
    }

    /** As {@link #limits(CommonParams, BaseConfig)}. */
    static Limits limits(KeysParams options, BaseConfig<?> server) {
        return limits(options.getTimeout(), options.getRetryAttempts(), options.getRetryDelay(), server);
    }

    private static Limits limits(int timeout, int retryAttempts, DelayStrategy retryDelay, BaseConfig<?> server) {
        boolean retries = retryAttempts >= 0 || retryDelay != null;
        int attempts = retryAttempts >= 0 ? retryAttempts : server.getRetryAttempts();
        DelayStrategy delays = retryDelay != null ? retryDelay : server.getRetryDelay();
        return new Limits(timeout, retries ? retryFor(attempts, delays) : -1);
    }

    /** The address without user and password. */
    static String withoutLogin(String address) {
        int scheme = address.indexOf("://");
        int at = address.lastIndexOf('@');
        return scheme >= 0 && at > scheme ? address.substring(0, scheme + 3) + address.substring(at + 1) : address;
    }

    /** The core counts time and not attempts: it begins retries for as long as the delays between the attempts add up to, in ms. */
    private static long retryFor(int attempts, DelayStrategy delays) {
        long sum = 0;
        for (int attempt = 0; attempt < attempts && sum < MOST_MS; attempt++) {
            long delay = Times.ms(Objects.requireNonNull(delays.calcDelay(attempt), "retryDelay gives null"));
            boolean settled = attempt == MOST_DELAYS; // it is the same from here on; a number of attempts may be as good as endless
            sum += settled ? Math.min(delay, MOST_MS / attempts) * (attempts - attempt) : delay;
            if (settled) {
                break;
            }
        }
        if (sum < 0) {
            throw new IllegalArgumentException("the delays of the retries add up to " + sum + " ms; they must not be negative");
        }
        return Math.min(sum, MOST_MS);
    }

    /** Adds an option, unless its value is null. */
    static void put(Map<String, String> options, String name, String value) {
        if (value != null) {
            options.put(name, value);
        }
    }

    private static String seconds(String setting, long ms, long least) {
        if (ms < least || ms > MOST_MS) {
            throw new IllegalArgumentException("the setting " + setting + " is " + ms + " ms, it must be from " + least + " to " + MOST_MS);
        }
        return String.valueOf(ms / 1000.0);
    }
}

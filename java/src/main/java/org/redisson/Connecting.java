package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Core;
import io.redlatch.internal.Log;
import io.redlatch.internal.Request;
import io.redlatch.internal.Shown;
import java.util.Map;
import java.util.Objects;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisConnectionException;
import org.redisson.config.Config;

/** Connects a client: returns once a server has answered. Public only for the sake of {@link io.redlatch.Redlatch} and of the Spring module. */
public final class Connecting {
    private Connecting() {
    }

    /** See {@link io.redlatch.Redlatch#connect}. */
    public static RedissonClient connect(String url) {
        return connect(url, false);
    }

    /** @param lazily whether the first call connects, instead of this one */
    public static RedissonClient connect(String url, boolean lazily) {
        Objects.requireNonNull(url, "the URL is null; write redis://host:6379");
        Core core = Core.connect(url, Map.of(), null);
        if (!lazily) {
            check(core, url);
        }
        tell(core, url);
        return new Redisson(core);
    }

    /** @throws RedisConnectionException see {@link Redisson#create(Config)} */
    static Core connect(Config config, Servers servers) {
        Core core = open(config, servers);
        if (!config.isLazyInitialization()) {
            check(core, servers.url);
        }
        tell(core, servers.url);
        return core;
    }

    private static void tell(Core core, String address) {
        String version = Connecting.class.getPackage().getImplementationVersion(); // null: the classes are in no jar
        String library = "redlatch " + (version == null ? "" : version + " ") + "on " + Core.platform();
        Log.info("", library + ": client " + core.id() + " of " + Shown.url(address));
    }

    private static Core open(Config config, Servers servers) {
        Login login = new Login(config, servers);
        Map<String, String> options = Settings.options(config, servers, login);
        options.putAll(new Tls(config, servers).options());
        Core core = Core.connect(servers.url, options, config.getExecutor());
        try {
            login.follow(core);
        } catch (Throwable e) {
            core.close(false);
            throw e;
        }
        return core;
    }

    private static void check(Core core, String address) {
        Answer answer = core.run(Request.ping());
        if (!answer.done()) {
            core.close(false);
            RuntimeException cause = Failures.of(answer, "", core.id(), RedissonBaseLock.currentThread());
            throw new RedisConnectionException(Shown.url(address) + " could not be asked for a sign of life: " + cause.getMessage(), cause);
        }
    }
}

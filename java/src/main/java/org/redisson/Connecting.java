package org.redisson;

import io.redlatch.Answer;
import io.redlatch.Core;
import io.redlatch.Request;
import java.util.Map;
import org.redisson.client.RedisConnectionException;
import org.redisson.config.Config;
import org.redisson.config.SingleServerConfig;

/** From a configuration to a server that has answered. */
final class Connecting {
    private Connecting() {
    }

    /** @throws RedisConnectionException see {@link Redisson#create(Config)} */
    static Core connect(Config config, SingleServerConfig server) {
        Core core = open(config, server);
        if (!config.isLazyInitialization()) {
            check(core, server.getAddress());
        }
        return core;
    }

    private static Core open(Config config, SingleServerConfig server) {
        Map<String, String> options = Settings.options(config, server);
        try (Tls tls = new Tls(config, server)) {
            options.putAll(tls.options());
            return Core.connect(server.getAddress(), options, config.getExecutor());
        }
    }

    private static void check(Core core, String address) {
        Answer answer = core.run(Request.ping());
        if (!answer.done()) {
            core.close(false);
            RuntimeException cause = Failures.of(answer, "", core.id(), RedissonBaseLock.currentThread());
            throw new RedisConnectionException("Unable to connect to Redis server: " + Settings.withoutLogin(address), cause);
        }
    }
}

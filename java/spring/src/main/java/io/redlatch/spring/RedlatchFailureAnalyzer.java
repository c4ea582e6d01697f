package io.redlatch.spring;

import org.redisson.client.RedisConnectionException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says at the start of an application without a server of locks what can be done. */
final class RedlatchFailureAnalyzer extends AbstractFailureAnalyzer<RedisConnectionException> {
    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, RedisConnectionException cause) {
        return new FailureAnalysis("The client of the distributed locks could not connect: " + cause.getMessage(),
                "Start the server, or name the right one: redlatch.url, spring.redis.redisson.config, spring.redis.redisson.file or"
                        + " spring.data.redis.*, the first of them that is set. An application that is to start without its server sets"
                        + " redlatch.lazy=true; then the first lock connects.",
                cause);
    }
}

package io.redlatch.spring;

import org.springframework.boot.actuate.health.AbstractHealthIndicator;
import org.springframework.boot.actuate.health.Health;

/** For Boot 3.5. */
final class ActuateHealthIndicator extends AbstractHealthIndicator {
    private final ClientHealth health;

    ActuateHealthIndicator(ClientHealth health) {
        super("the server of the locks does not answer");
        this.health = health;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        builder.withDetails(health.details());
        health.ask();
        builder.up();
    }
}

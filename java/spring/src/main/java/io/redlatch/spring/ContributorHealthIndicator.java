package io.redlatch.spring;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** For Boot 4.0. */
final class ContributorHealthIndicator extends AbstractHealthIndicator {
    private final ClientHealth health;

    ContributorHealthIndicator(ClientHealth health) {
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

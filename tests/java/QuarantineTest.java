import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Options;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.config.Config;

/** Servers that may have lost locks grant none: Java asks for that. Tests of the core show its effect. */
class QuarantineTest {
    private static final String NAME = "n";

    @Test
    void a_server_that_has_only_just_started_grants_nothing_until_it_has_run_for_a_lease() throws Exception {
        try (TestServer young = TestServer.start()) {
            Config config = young.config();
            assertFalse(config.isQuarantine());
            assertSame(config, Options.quarantine(config));
            assertTrue(new Config(config).isQuarantine());
            RLock held = Redisson.create(config).getLock(NAME);
            assertFalse(held.tryLock());
            assertFalse(held.tryLock(50, MILLISECONDS));
            assertTrue(young.connect().getLock(NAME).tryLock(), "of others it does as always");
            RLock soon = Redisson.create(config.setLockWatchdogTimeout(1500)).getLock(NAME + "-2");
            assertTrue(soon.tryLock(20, SECONDS));
        }
    }
}

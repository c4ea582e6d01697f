import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Options;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The time for which a client hands a contended lock on by itself: Java sets it. Tests of the core show its effect. */
class TurnTest extends LockTest {
    private static final Duration HOUR = Duration.ofHours(1);

    @Test
    void in_a_turn_the_server_keeps_the_field_of_the_owner_that_took_the_lock_from_it() throws Exception {
        assertTrue(isHandedOn(Options.turn(server.config(), HOUR)));
        assertFalse(isHandedOn(Options.turn(server.config(), Duration.ZERO)));
    }

    @Test
    void a_turn_of_the_address_counts_if_the_configuration_has_none() throws Exception {
        Config config = server.config();
        config.useSingleServer().setAddress(server.url() + "?turn=3600");
        assertTrue(isHandedOn(config));
        assertFalse(isHandedOn(Options.turn(config, Duration.ZERO)));
    }

    @Test
    void a_copy_of_a_configuration_has_its_turn() throws Exception {
        Config config = server.config();
        assertSame(config, Options.turn(config, HOUR));
        assertTrue(isHandedOn(new Config(config)));
    }

    /** Whether owner 2 ever holds the lock under the field of owner 1, which has released it beside owner 2. */
    private boolean isHandedOn(Config config) throws Exception {
        RedissonClient made = Redisson.create(config);
        RLock contended = made.getLock(name);
        boolean isHandedOn = false;
        for (int round = 0; round < 10 && !isHandedOn; round++) {
            contended.lockAsync(1).get();
            RFuture<Void> waiting = contended.lockAsync(2);
            Wait.until("it waits", () -> server.listeners(name) == 1);
            contended.unlockAsync(1).get();
            waiting.get();
            assertTrue(contended.isHeldByThread(2));
            isHandedOn = server.call("HEXISTS", name, made.getId() + ":1").equals(1L);
            contended.unlockAsync(2).get();
        }
        made.shutdown();
        return isHandedOn;
    }
}

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Interrupts beside a server that stands still. */
class HungServerTest {
    /** How long a call may stay unanswered, in ms: a caller that waits for that is not interrupted. */
    private static final int TIMEOUT_MS = 120_000;

    private TestServer server;
    private RedissonClient client;

    @BeforeEach
    void start() throws Exception {
        server = TestServer.start();
        client = Redisson.create(RetriedCalls.config(server, TIMEOUT_MS, 4, 1000));
    }

    @AfterEach
    void stop() throws Exception {
        server.thaw();
        client.shutdown();
        server.close();
    }

    @Test
    void an_interrupt_ends_lockInterruptibly_beside_a_server_that_hangs_and_nothing_stays_held() throws Exception {
        assertEndedByInterrupt(lock -> lock.lockInterruptibly());
    }

    @Test
    void an_interrupt_ends_a_tryLock_that_waits_beside_a_server_that_hangs_and_nothing_stays_held() throws Exception {
        assertEndedByInterrupt(lock -> lock.tryLock(1, TimeUnit.DAYS));
    }

    @Test
    void an_interrupt_ends_a_tryLock_that_does_not_wait_beside_a_server_that_hangs_and_nothing_stays_held() throws Exception {
        assertEndedByInterrupt(lock -> lock.tryLock(0, TimeUnit.DAYS));
    }

    private interface Acquire {
        void of(RLock lock) throws InterruptedException;
    }

    private void assertEndedByInterrupt(Acquire acquire) throws Exception {
        RLock lock = client.getLock("hung");
        lock.lock(); // the thread's own connection is open now, and the server near
        lock.unlock();
        server.freeze();
        Worker<Void> waiter = Worker.start(() -> {
            assertThrows(InterruptedException.class, () -> acquire.of(lock));
            return null;
        });
        waiter.awaitParked();
        waiter.interrupt();
        waiter.get(); // long before the time-out of its call
        server.thaw();
        Wait.until("what the server granted is given back", () -> !lock.isLocked());
        assertTrue(lock.tryLock());
        lock.unlock();
    }
}

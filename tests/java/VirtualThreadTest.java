import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Virtual threads, on a JDK that has them. */
class VirtualThreadTest extends LockTest {
    private static final int MORE_THAN_CARRIERS = 500;
    private static final int THOUSAND = 1000;
    private static final String PINNED = "jdk.VirtualThreadPinned";

    private Method start;

    @BeforeEach
    void find() {
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            assumeTrue(false, "this JDK has no virtual threads");
        }
    }

    @Test
    void a_virtual_thread_holds_and_releases() throws Exception {
        AtomicReference<String> seen = new AtomicReference<>();
        Thread thread = start(() -> {
            lock.lock();
            seen.set(lock.getHoldCount() + " " + lock.isHeldByCurrentThread());
            lock.unlock();
            seen.set(seen.get() + " " + lock.isLocked());
        });
        thread.join(10_000);
        assertEquals("1 true false", seen.get());
    }

    @Test
    void waiting_virtual_threads_leave_the_carriers_to_the_one_that_releases() throws Exception {
        CountDownLatch done = new CountDownLatch(MORE_THAN_CARRIERS);
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        lock.lock();
        for (int i = 0; i < MORE_THAN_CARRIERS; i++) {
            start(() -> {
                lock.lock();
                most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                inside.decrementAndGet();
                lock.unlock();
                done.countDown();
            });
        }
        Wait.until("they wait", () -> server.listeners(name) == 1);
        CountDownLatch other = new CountDownLatch(1);
        start(other::countDown);
        assertTrue(other.await(10, SECONDS), "a carrier is free while all wait");
        lock.unlock();
        assertTrue(done.await(30, SECONDS), done.getCount() + " still wait");
        assertEquals(1, most.get());
    }

    @Test
    void virtual_threads_leave_the_carriers_alone_while_the_server_thinks() throws Exception {
        try (TestServer slow = TestServer.start()) {
            Config config = slow.config();
            config.useSingleServer().setTimeout(25_000);
            RedissonClient patient = Redisson.create(config);
            slow.call("CLIENT", "PAUSE", "25000", "WRITE");
            CountDownLatch answered = new CountDownLatch(MORE_THAN_CARRIERS);
            for (int i = 0; i < MORE_THAN_CARRIERS; i++) {
                start(() -> {
                    patient.getLock(name).tryLock();
                    answered.countDown();
                });
            }
            CountDownLatch other = new CountDownLatch(1);
            start(other::countDown);
            assertTrue(other.await(10, SECONDS), "a carrier is free while all wait for the server");
            assertEquals(MORE_THAN_CARRIERS, answered.getCount());
            slow.call("CLIENT", "UNPAUSE");
            assertTrue(answered.await(20, SECONDS), answered.getCount() + " still wait");
            patient.shutdown();
        }
    }

    @Test
    void no_virtual_thread_is_ever_pinned() throws Exception {
        try (DelayProxy slow = new DelayProxy(server.port()); Recording recording = new Recording()) {
            Config config = server.config();
            config.useSingleServer().setAddress(slow.url()).setTimeout(10_000);
            RedissonClient far = Redisson.create(config);
            recording.enable(PINNED).withThreshold(Duration.ZERO).withStackTrace();
            recording.start();
            CountDownLatch done = new CountDownLatch(THOUSAND);
            for (int i = 0; i < THOUSAND; i++) {
                RLock own = far.getLock(name + i);
                start(() -> {
                    own.lock();
                    own.unlock();
                    done.countDown();
                });
            }
            assertTrue(done.await(30, SECONDS), done.getCount() + " have not ended");
            start(() -> assertTrue(PinnedOnPurpose.LONG > 0)).join(10_000);
            recording.stop();
            Path file = Files.createTempFile("redlatch", ".jfr");
            recording.dump(file);
            List<RecordedEvent> pinned = RecordingFile.readAllEvents(file);
            Files.delete(file);
            pinned.removeIf(event -> !event.getEventType().getName().equals(PINNED)); // the rest are our own
            assertTrue(pinned.removeIf(event -> String.valueOf(event.getStackTrace()).contains("PinnedOnPurpose")), "those that are are seen");
            pinned.removeIf(event -> !String.valueOf(event.getStackTrace()).contains("redlatch"));
            assertEquals(List.of(), pinned);
            far.shutdown();
        }
    }

    /** A virtual thread that parks in an initializer keeps its carrier. */
    private static final class PinnedOnPurpose {
        static final long LONG = System.nanoTime();

        static {
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Test
    void an_interrupt_ends_the_wait_of_a_virtual_thread_with_nothing_held() throws Exception {
        lock.lock();
        AtomicReference<String> seen = new AtomicReference<>();
        Thread thread = start(() -> {
            try {
                lock.lockInterruptibly();
            } catch (InterruptedException e) {
                seen.set("interrupted, holds " + lock.getHoldCount());
            }
        });
        Wait.until("it waits", () -> server.listeners(name) == 1 && thread.getState() == Thread.State.WAITING);
        thread.interrupt();
        thread.join(10_000);
        assertEquals("interrupted, holds 0", seen.get());
    }

    private Thread start(Runnable work) throws Exception {
        return (Thread) start.invoke(null, work);
    }
}

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Virtual threads, on a JDK that has them. */
class VirtualThreadTest extends LockTest {
    private static final int MORE_THAN_CARRIERS = 500;

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

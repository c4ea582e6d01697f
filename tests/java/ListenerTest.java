import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.RedissonShutdownException;
import org.redisson.api.DeletedObjectListener;
import org.redisson.api.ExpiredObjectListener;
import org.redisson.api.ObjectListener;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Listeners of a lock, by the server's keyspace events. */
class ListenerTest {
    private static final String OF_THE_KEY = "__keyspace@0__:lock";

    private final LinkedBlockingQueue<String> heard = new LinkedBlockingQueue<>();
    private TestServer server;
    private RedissonClient client;
    private RLock lock;

    @BeforeEach
    void start() throws Exception {
        server = TestServer.start("--notify-keyspace-events", "Kgx");
        client = server.connect();
        lock = client.getLock("lock");
    }

    @AfterEach
    void stop() {
        client.shutdown();
        server.close();
    }

    @Test
    void a_release_is_heard_as_deleted_and_a_lease_that_ends_as_expired() throws Exception {
        lock.addListener((DeletedObjectListener) name -> heard.add("deleted " + name));
        lock.addListener((ExpiredObjectListener) name -> heard.add("expired " + name));
        lock.lock();
        lock.unlock();
        assertEquals("deleted lock", heard.poll(10, SECONDS));
        lock.lock(50, MILLISECONDS);
        assertEquals("expired lock", heard.poll(10, SECONDS));
        server.call("SET", "another", "1");
        server.call("DEL", "another");
        lock.lock();
        lock.unlock();
        assertEquals("deleted lock", heard.poll(10, SECONDS));
        assertNull(heard.poll());
    }

    @Test
    void a_server_that_tells_only_of_all_keys_will_do() throws Exception {
        server.call("CONFIG", "SET", "notify-keyspace-events", "Ex");
        lock.addListener((ExpiredObjectListener) name -> heard.add("expired " + name));
        client.getLock("another").lock(20, MILLISECONDS);
        lock.lock(50, MILLISECONDS);
        assertEquals("expired lock", heard.poll(10, SECONDS));
        assertNull(heard.poll());
    }

    @Test
    void a_server_that_does_not_say_what_it_tells_is_listened_to_as_redisson_does() throws Exception {
        server.call("CONFIG", "SET", "notify-keyspace-events", "Eg");
        server.call("ACL", "SETUSER", "modest", "on", "nopass", "~*", "&*", "+@all", "-config");
        RedissonClient modest = Redisson.create(server.config().setUsername("modest").setPassword("any"));
        modest.getLock("lock").addListener((DeletedObjectListener) name -> heard.add("deleted " + name));
        lock.lock();
        lock.unlock();
        assertEquals("deleted lock", heard.poll(10, SECONDS));
        modest.shutdown();
    }

    @Test
    void a_server_that_tells_of_nothing_is_named_with_the_remedy() throws Exception {
        for (String setting : List.of("", "Kx", "g")) {
            server.call("CONFIG", "SET", "notify-keyspace-events", setting);
            Throwable error = assertThrows(UnsupportedOperationException.class, () -> lock.addListener((DeletedObjectListener) heard::add));
            assertTrue(error.getMessage().contains("`lock`") && error.getMessage().contains("CONFIG SET"), error.getMessage());
            RFuture<Integer> future = lock.addListenerAsync((DeletedObjectListener) heard::add);
            Throwable cause = assertThrows(ExecutionException.class, () -> future.get(10, SECONDS)).getCause();
            assertInstanceOf(UnsupportedOperationException.class, cause);
        }
        assertEquals(0, listeners(OF_THE_KEY));
    }

    @Test
    void a_listener_of_another_kind_is_refused() {
        ObjectListener other = new ObjectListener() {};
        assertThrows(IllegalArgumentException.class, () -> lock.addListener(other));
        assertThrows(IllegalArgumentException.class, () -> lock.addListenerAsync(other));
    }

    @Test
    void no_event_is_lost_while_a_listener_is_at_work_and_it_is_called_for_one_at_a_time() throws Exception {
        CountDownLatch first = new CountDownLatch(1);
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger calls = new AtomicInteger();
        lock.addListener((DeletedObjectListener) name -> {
            assertEquals(1, inside.incrementAndGet());
            try {
                first.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            inside.decrementAndGet();
            calls.incrementAndGet();
        });
        for (int i = 0; i < 500; i++) {
            lock.lock();
            lock.unlock();
        }
        assertTrue(client.getLock("another").tryLockAsync(7).get(10, SECONDS), "no other caller is held up");
        first.countDown();
        Wait.until("all were told", () -> calls.get() == 500);
    }

    @Test
    void a_listener_that_fails_is_called_again_and_never_on_the_thread_that_fetches_completions() throws Exception {
        lock.addListener((DeletedObjectListener) name -> {
            heard.add(Thread.currentThread().getName());
            throw new IllegalStateException("a listener that fails, which is to be printed");
        });
        for (int i = 0; i < 2; i++) {
            lock.lock();
            lock.unlock();
            assertNotEquals("redlatch-completions", heard.poll(10, SECONDS));
        }
    }

    @Test
    void a_removed_listener_hears_nothing_and_the_last_one_ends_the_subscription() throws Exception {
        int first = lock.addListenerAsync((DeletedObjectListener) name -> heard.add("first")).get(10, SECONDS);
        int second = lock.addListener((DeletedObjectListener) name -> heard.add("second"));
        assertNotEquals(first, second);
        assertEquals(1, listeners(OF_THE_KEY));
        lock.removeListener(first);
        lock.lock();
        lock.unlock();
        assertEquals("second", heard.poll(10, SECONDS));
        lock.removeListenerAsync(second).get(10, SECONDS);
        Wait.until("no client listens", () -> listeners(OF_THE_KEY) == 0);
        lock.removeListener(second);
        lock.removeListener(-5);
        assertNull(heard.poll());
    }

    @Test
    void a_listener_may_remove_itself() throws Exception {
        int[] id = new int[1];
        CountDownLatch known = new CountDownLatch(1);
        id[0] = lock.addListener((DeletedObjectListener) name -> {
            try {
                known.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            lock.removeListener(id[0]);
            heard.add("called");
        });
        known.countDown();
        for (int i = 0; i < 3; i++) {
            lock.lock();
            lock.unlock();
        }
        Wait.until("no client listens", () -> listeners(OF_THE_KEY) == 0);
        assertEquals(1, heard.size());
    }

    @Test
    void a_subscription_whose_future_was_cancelled_is_ended() throws Exception {
        for (int round = 0; round < 100; round++) {
            RFuture<Integer> future = lock.addListenerAsync((DeletedObjectListener) heard::add);
            if (!future.cancel(true)) { // the answer was quicker
                lock.removeListener(future.get());
            }
        }
        Wait.until("no client listens", () -> listeners(OF_THE_KEY) == 0);
    }

    @Test
    void a_listener_hears_again_after_the_connection_was_lost() throws Exception {
        lock.addListener((DeletedObjectListener) name -> heard.add("deleted"));
        server.call("CLIENT", "KILL", "TYPE", "pubsub");
        Wait.until("it listens again", () -> listeners(OF_THE_KEY) == 1);
        lock.lock();
        lock.unlock();
        assertEquals("deleted", heard.poll(10, SECONDS));
    }

    @Test
    void a_name_mapper_and_a_database_are_part_of_what_is_listened_to() throws Exception {
        Config config = server.config().setNameMapper(new ShopNames());
        config.useSingleServer().setDatabase(2);
        RedissonClient shop = Redisson.create(config);
        shop.getLock("lock").addListener((DeletedObjectListener) heard::add);
        assertEquals(1, listeners("__keyspace@2__:shop:lock"));
        shop.getLock("lock").lock();
        shop.getLock("lock").unlock();
        assertEquals("shop:lock", heard.poll(10, SECONDS));
        shop.shutdown();
    }

    @Test
    void shutdown_ends_listeners_and_later_ones_are_refused() throws Exception {
        lock.addListener((DeletedObjectListener) heard::add);
        client.shutdown();
        Wait.until("no client listens", () -> listeners(OF_THE_KEY) == 0);
        assertThrows(RedissonShutdownException.class, () -> lock.addListener((DeletedObjectListener) heard::add));
        lock.removeListener(1);
        assertFalse(heard.contains("lock"));
    }

    private long listeners(String channel) throws Exception {
        return (Long) ((List<?>) server.call("PUBSUB", "NUMSUB", channel)).get(1);
    }

    @Test
    void a_listener_runs_on_the_executor_that_was_set_and_on_our_threads_where_that_refuses_it() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor(work -> new Thread(work, "the-executor"));
        RedissonClient made = Redisson.create(server.config().setExecutor(executor));
        made.getLock("lock").addListener((DeletedObjectListener) name -> heard.add(Thread.currentThread().getName()));
        for (String expected : new String[] {"the-executor", "the-executor", "redlatch-callbacks-"}) {
            if (expected.startsWith("redlatch")) {
                executor.shutdown();
            }
            lock.lock();
            lock.unlock();
            String thread = heard.poll(20, SECONDS);
            assertTrue(String.valueOf(thread).startsWith(expected), thread);
        }
        made.shutdown();
    }

    @Test
    void a_listener_that_the_executor_has_dropped_can_be_removed_with_its_subscription() throws Exception {
        LinkedBlockingQueue<Runnable> dropped = new LinkedBlockingQueue<>();
        ThreadPoolExecutor full = new ThreadPoolExecutor(1, 1, 1, SECONDS, new ArrayBlockingQueue<>(1), (work, pool) -> dropped.add(work));
        CountDownLatch end = new CountDownLatch(1);
        full.submit(() -> end.await(30, SECONDS));
        full.submit(() -> end.await(30, SECONDS));
        RedissonClient made = Redisson.create(server.config().setExecutor(full));
        RLock other = made.getLock("lock");
        int id = other.addListener((DeletedObjectListener) heard::add);
        Wait.until("it listens", () -> server.listenersOf(OF_THE_KEY) == 1);
        lock.lock();
        lock.unlock();
        dropped.poll(20, SECONDS);
        other.removeListener(id);
        Wait.until("it listens no more", () -> server.listenersOf(OF_THE_KEY) == 0);
        end.countDown();
        full.shutdown();
        made.shutdown();
    }

    @Test
    void a_listener_is_called_again_after_it_and_the_handler_of_uncaught_exceptions_have_thrown() throws Exception {
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> {
            throw new IllegalStateException("the handler fails as well");
        });
        try {
            lock.addListener((DeletedObjectListener) name -> {
                heard.add(name);
                throw new IllegalStateException("the listener fails");
            });
            for (int i = 0; i < 2; i++) {
                lock.lock();
                lock.unlock();
                assertEquals("lock", heard.poll(20, SECONDS));
            }
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }

    @Test
    void a_listener_whose_addition_is_cancelled_at_any_moment_leaves_nothing() throws Exception {
        Map<?, ?> kept = (Map<?, ?>) inside(inside(inside(client, "places"), "listeners"), "all");
        for (int i = 0; i < 300; i++) {
            RFuture<Integer> added = lock.addListenerAsync((DeletedObjectListener) heard::add);
            LockSupport.parkNanos(i * 3_000L);
            if (!added.cancel(true)) {
                lock.removeListener(added.get());
            }
        }
        Wait.until("it listens no more", () -> server.listenersOf(OF_THE_KEY) == 0);
        Wait.until("no listener is kept", kept::isEmpty);
    }

    private static Object inside(Object object, String field) throws Exception {
        Field found = object.getClass().getDeclaredField(field);
        found.setAccessible(true);
        return found.get(object);
    }
}

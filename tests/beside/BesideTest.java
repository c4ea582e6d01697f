import io.redlatch.beside.Beside;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A server, a Redisson of the version under test, and our locks beside it. */
class BesideTest {
    /** An owner that is no thread of this JVM. */
    static final long OTHER = 1_000_000_007;
    private static int objects;

    static TestServer server;
    /** Another client of Redisson, in the part of another process. */
    static RedissonClient plain;
    static RedissonClient client;

    String name;
    RLock lock;

    @BeforeAll
    static void connect() throws Exception {
        server = TestServer.shared();
        plain = server.connect();
        client = Beside.of(server.connect());
    }

    @AfterAll
    static void shutDown() {
        client.shutdown();
        plain.shutdown();
    }

    @BeforeEach
    void name() {
        name = "object-" + ++objects;
        lock = client.getLock(name);
    }

    /** Waits until a client listens for a release of that object. */
    static void awaitWaiter(String name) throws Exception {
        Wait.until("a client waits for " + name, () -> waiters(name) > 0);
    }

    /**
     * Waits until a waiter that listens has what it waits for, by messages alone: a lease would end later than this gives up. Redisson's own waiters now
     * and then miss a message that comes just as they begin to wait, of Redisson as well as of ours, so that they are told again.
     */
    static <T> T woken(Worker<T> waiter, Callable<?> again) throws Exception {
        Wait.until("the waiter is woken", () -> {
            if (!waiter.isDone()) {
                again.call();
            }
            return waiter.isDone();
        });
        return waiter.get();
    }

    static int waiters(String name) throws Exception {
        return ((List<?>) server.call("PUBSUB", "CHANNELS", "*{" + name + "}*")).size();
    }

    static boolean isThere(String key) throws Exception {
        return server.call("EXISTS", key).equals(1L);
    }
}

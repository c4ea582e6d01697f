import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A test with a client of the shared server and a lock name of its own. */
abstract class LockTest {
    private static final AtomicInteger NAMES = new AtomicInteger();

    TestServer server;
    RedissonClient client;
    String name;
    RLock lock;

    @BeforeEach
    void connect() throws Exception {
        server = TestServer.shared();
        client = server.connect();
        name = getClass().getSimpleName() + "-" + NAMES.incrementAndGet();
        lock = client.getLock(name);
    }

    @AfterEach
    void disconnect() {
        client.shutdown();
    }
}

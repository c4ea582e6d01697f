import static org.junit.jupiter.api.Assertions.assertEquals;

import io.redlatch.Redlatch;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.redisson.api.RedissonClient;

/** A test with clients of the shared ZooKeeper. At its end none of them has a node, and the end of its clients leaves no session. */
abstract class ZookeeperTest {
    private static final AtomicInteger NAMES = new AtomicInteger();

    private final List<RedissonClient> clients = new ArrayList<>();

    TestZookeeper server;
    RedissonClient client;
    /** Another program's session. */
    CuratorFramework curator;
    String name;

    @BeforeEach
    void connect() throws Exception {
        server = TestZookeeper.shared();
        curator = server.curator();
        client = another("");
        name = newName();
    }

    @AfterEach
    void nothing_is_left() throws Exception {
        Wait.until("no client has a node", () -> server.nodes().isEmpty());
        clients.forEach(RedissonClient::shutdown);
        long view = curator.getZookeeperClient().getZooKeeper().getSessionId();
        Wait.until("no session is left", () -> server.sessions().equals(Set.of(view)));
        curator.close();
    }

    /** One more client of the same server. */
    RedissonClient another(String options) {
        RedissonClient made = Redlatch.connect(server.url(options));
        clients.add(made);
        return made;
    }

    /** The name of a lock that no other test has. */
    String newName() {
        return getClass().getSimpleName() + "-" + NAMES.incrementAndGet();
    }

    /** The nodes of the owners that have the lock or wait for it, in their order. */
    List<String> queue() throws Exception {
        return queue(name);
    }

    List<String> queue(String of) throws Exception {
        List<String> nodes = new ArrayList<>(TestZookeeper.children(curator, "/" + of));
        nodes.sort(Comparator.comparing(node -> node.substring(node.length() - 10)));
        return nodes;
    }

    void awaitQueue(int count) throws Exception {
        Wait.until(count + " nodes are in the queue", () -> queue().size() == count);
    }

    /** The session that has the first node of the queue. */
    long holder() throws Exception {
        return TestZookeeper.owner(curator, "/" + name + "/" + queue().get(0));
    }

    /** Ends a session, as the server does when its time is over. */
    void expire(long session) throws Exception {
        Wait.until("the session is over", () -> {
            server.expire(session); // its client may enter it again meanwhile, and then the rig is out of it
            return !server.sessions().contains(session);
        });
    }

    /** The queue has one node and no more. */
    void assertHeld() throws Exception {
        assertEquals(1, queue().size(), "nodes in the queue: " + queue());
    }
}

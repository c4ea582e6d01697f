import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.junit.jupiter.api.Test;

/** The ZooKeeper that the tests start: what they see there, and what they can do to it. */
class ZookeeperRigTest {
    @Test
    void a_holder_and_its_waiter_are_seen_and_have_the_lock_one_after_the_other() throws Exception {
        TestZookeeper server = TestZookeeper.shared();
        try (CuratorFramework one = server.curator(); CuratorFramework other = server.curator()) {
            InterProcessMutex first = new InterProcessMutex(one, "/rig/order");
            InterProcessMutex second = new InterProcessMutex(other, "/rig/order");
            first.acquire();
            Worker<Boolean> waiting = Worker.start(() -> {
                boolean has = second.acquire(20, SECONDS);
                second.release();
                return has;
            });
            Wait.until("the other waits", () -> first.getParticipantNodes().size() == 2);
            String holder = first.getParticipantNodes().iterator().next();
            assertEquals(one.getZookeeperClient().getZooKeeper().getSessionId(), TestZookeeper.owner(other, holder));
            assertFalse(waiting.isDone());
            first.release();
            assertTrue(waiting.get());
            assertEquals(List.of(), TestZookeeper.children(one, "/rig/order"));
        }
    }

    @Test
    void the_end_of_a_session_takes_its_lock_along() throws Exception {
        TestZookeeper server = TestZookeeper.shared();
        try (CuratorFramework view = server.curator(); CuratorFramework theirs = server.curator()) {
            CountDownLatch told = new CountDownLatch(1);
            theirs.getConnectionStateListenable().addListener((client, state) -> {
                if (state == ConnectionState.LOST) {
                    told.countDown();
                }
            });
            InterProcessMutex lock = new InterProcessMutex(theirs, "/rig/ends");
            lock.acquire();
            long session = TestZookeeper.owner(view, lock.getParticipantNodes().iterator().next());
            assertTrue(server.sessions().contains(session));
            server.expire(session);
            assertEquals(List.of(), TestZookeeper.children(view, "/rig/ends"));
            assertFalse(server.sessions().contains(session));
            assertTrue(told.await(20, SECONDS), "the holder is not told");
        }
    }

    @Test
    void a_killed_server_comes_back_with_its_nodes_and_a_frozen_one_goes_on() throws Exception {
        try (TestZookeeper server = TestZookeeper.start("minSessionTimeout=4000")) {
            assertTrue(server.ask("conf").contains("minSessionTimeout=4000"));
            try (CuratorFramework theirs = server.curator()) {
                theirs.create().forPath("/kept", new byte[] {42});
            }
            server.stop();
            server.restart();
            server.freeze();
            server.thaw();
            try (CuratorFramework theirs = server.curator()) {
                assertArrayEquals(new byte[] {42}, theirs.getData().forPath("/kept"));
            }
        }
    }
}

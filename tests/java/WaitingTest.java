import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Many threads that wait for one lock. */
class WaitingTest extends LockTest {
    private static final int THREADS = 200;

    @Test
    void two_hundred_waiting_threads_use_one_subscription_and_few_connections_and_each_gets_its_turn() throws Exception {
        Config config = server.config();
        config.useSingleServer().setClientName(name);
        RedissonClient crowd = Redisson.create(config);
        RLock wanted = crowd.getLock(name);
        wanted.lock();
        int[] turns = {0};
        List<Worker<Void>> workers = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            workers.add(Worker.start(() -> {
                wanted.lock();
                turns[0]++;
                wanted.unlock();
                return null;
            }));
        }
        for (Worker<Void> worker : workers) {
            worker.awaitWaiting(server, name);
        }
        long connections = Arrays.stream(String.valueOf(server.call("CLIENT", "LIST")).split("\n"))
                .filter(line -> line.contains("name=" + name + " ")).count();
        assertTrue(connections <= 6, connections + " connections");
        wanted.unlock();
        for (Worker<Void> worker : workers) {
            worker.get();
        }
        assertEquals(THREADS, turns[0]);
        Wait.until("no client listens", () -> server.listeners(name) == 0);
        crowd.shutdown();
    }
}

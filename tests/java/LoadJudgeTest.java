import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.redisson.RedissonShutdownException;

/** The judges of the mixed load, see {@code tests/java/load}. */
class LoadJudgeTest {
    private static final int KEYS = 3000;

    @Test
    void a_server_that_loads_its_data_is_asked_until_it_has() throws Exception {
        // Each key takes half a millisecond, and the server answers others after each thousand. While a server waits for its disk, it keeps
        // what is to be written to itself.
        try (TestServer server = TestServer.start("--appendonly", "yes", "--appendfsync", "no", "--key-load-delay", "500")) {
            try (Resp resp = new Resp(server.port())) {
                for (int i = 0; i < KEYS; i++) {
                    resp.call("SET", "key" + i, "");
                }
            }
            server.stop();
            Worker<Void> restart = Worker.start(() -> {
                server.restart();
                return null;
            });
            Wait.until("the server loads its data", () -> isLoading(server));
            assertEquals((long) KEYS, server.ask("DBSIZE"));
            restart.get();
        }
    }

    private static boolean isLoading(TestServer server) {
        try {
            return String.valueOf(server.call("DBSIZE")).startsWith("LOADING ");
        } catch (IOException e) {
            return false; // it does not listen yet
        }
    }

    @Test
    void the_shutdown_of_a_client_that_helps_to_give_a_permit_back_explains_its_exception() throws Exception {
        TestServer server = TestServer.shared();
        Load load = new Load(new TestServer[] {server, server, server}, 1);
        try {
            Party own = load.clients.any(new Random(1), 0);
            Party helper = load.clients.any(new Random(1), 1);
            Use use = new Use(load, "permits", "test", new Epoch(0), List.of(own), null);
            use.failed("release", new RedissonShutdownException("of the helper"), false);
            helper.closing = true;
            load.judgeSuspects();
            assertTrue(load.hasSuspects(), "no client of this use was shut down");
            use.helpedBy(helper);
            load.judgeSuspects();
            assertFalse(load.hasSuspects());
            assertTrue(load.running.remove(use));
        } finally {
            load.clients.close();
        }
    }
}

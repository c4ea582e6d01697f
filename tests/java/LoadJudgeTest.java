import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The judges of the mixed load, see {@code tests/java/load}. */
class LoadJudgeTest {
    private static final int KEYS = 3000;

    @Test
    void a_server_that_loads_its_data_is_asked_until_it_has() throws Exception {
        // Each key takes half a millisecond, and the server answers others after each thousand.
        try (TestServer server = TestServer.start("--appendonly", "yes", "--key-load-delay", "500")) {
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
}

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.redlatch.Redlatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.redisson.api.RedissonClient;

/** A test with clients of the shared MariaDB. At its end none of its locks is held, and the end of its clients leaves no session. */
abstract class MariadbTest {
    private static final AtomicInteger NAMES = new AtomicInteger();

    private final List<RedissonClient> clients = new ArrayList<>();
    private final Set<String> names = new TreeSet<>();

    TestMariadb server;
    RedissonClient client;
    /** Another program's session. */
    Sql sql;
    String name;

    @BeforeEach
    void connect() throws Exception {
        server = TestMariadb.shared();
        sql = server.sql();
        client = another("");
        name = newName();
    }

    @AfterEach
    void nothing_is_left() throws Exception {
        Map<String, String> holders = new TreeMap<>();
        for (String each : names) {
            Optional.ofNullable(sql.holder(each)).ifPresent(holder -> holders.put(each, holder));
        }
        clients.forEach(RedissonClient::shutdown);
        assertEquals(Map.of(), holders, "locks that are still held");
        Wait.until("no session is left", () -> sql.sessionsOfClients() == 0);
        sql.close();
    }

    /** One more client of the same server. */
    RedissonClient another(String options) {
        RedissonClient made = Redlatch.connect(server.url(options));
        clients.add(made);
        return made;
    }

    /** The name of a lock that no other test has. */
    String newName() {
        String made = getClass().getSimpleName() + "-" + NAMES.incrementAndGet();
        names.add(made);
        return made;
    }
}

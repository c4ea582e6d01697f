import io.redlatch.Holds;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The main class of a child JVM: loses a lock, and is shut down while it holds another. */
public final class LoseOnce {
    private LoseOnce() {}

    /** @param arguments an address, its port, and the file that is logged to */
    public static void main(String... arguments) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]);
        RedissonClient client = Redisson.create(config);
        RLock lock = client.getLock("lost-once");
        lock.lock();
        try (Resp resp = new Resp(Integer.parseInt(arguments[1]))) {
            resp.call("DEL", "lost-once");
        }
        Holds.of(lock).lost().get(20, TimeUnit.SECONDS);
        Path log = Paths.get(arguments[2]);
        Wait.until("it is logged", () -> Files.exists(log) && Files.readString(log).endsWith("\n"));
        client.getLock("kept").lock(1, TimeUnit.MINUTES);
        client.shutdown();
        System.out.println("shut down");
    }
}

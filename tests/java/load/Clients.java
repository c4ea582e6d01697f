import io.redlatch.Options;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The clients of the moment. Each is replaced after a while, and shut down while it is used. */
final class Clients implements Runnable {
    static final int WATCHDOG_MS = 9000;
    /** The server of each place. */
    private static final int[] PLACES = {0, 0, 0, 1, 1, 2};

    private final TestServer[] servers;
    private final Load load;
    private final Random random;
    private final AtomicReferenceArray<Party> parties = new AtomicReferenceArray<>(PLACES.length);

    Clients(TestServer[] servers, Load load, long seed) {
        this.servers = servers;
        this.load = load;
        this.random = new Random(seed);
        for (int place = 0; place < PLACES.length; place++) {
            parties.set(place, new Party(make(place), PLACES[place]));
        }
    }

    Party any(Random random) {
        return parties.get(random.nextInt(5));
    }

    /** One of {@code server}. */
    Party any(Random random, int server) {
        return server == 0 ? parties.get(random.nextInt(3)) : server == 1 ? parties.get(3 + random.nextInt(2)) : parties.get(5);
    }

    /** One client for each server. */
    List<Party> ofEach(Random random) {
        return List.of(any(random, 0), any(random, 1), any(random, 2));
    }

    int count() {
        return PLACES.length;
    }

    @Override
    public void run() {
        while (load.goesOn(3000 + random.nextInt(5000))) {
            replace(random.nextInt(PLACES.length));
        }
    }

    void close() {
        for (int place = 0; place < PLACES.length; place++) {
            parties.get(place).closing = true;
            parties.get(place).client.shutdown();
        }
    }

    private void replace(int place) {
        long begun = System.nanoTime();
        Party next;
        try {
            next = new Party(make(place), PLACES[place]);
        } catch (RuntimeException e) {
            load.verdict.count("clients", e.getClass().getSimpleName());
            List<Party> server = List.of(parties.get(place));
            long until = System.nanoTime();
            load.suspect("create: " + e, () -> e.getClass().getSimpleName().equals("RedisConnectionException")
                    && load.faults.explain(server, begun, until));
            return;
        }
        Party last = parties.get(place);
        last.closing = true;
        parties.set(place, next);
        shutDown(last.client);
    }

    private void shutDown(RedissonClient client) {
        switch (random.nextInt(4)) {
            case 0:
                client.shutdown(0, 500, TimeUnit.MILLISECONDS);
                load.verdict.count("clients", "shutdown in 500 ms");
                break;
            case 1:
                client.shutdownAsync();
                load.verdict.count("clients", "shutdownAsync");
                break;
            case 2:
                client.shutdownAsync(Duration.ZERO, Duration.ofSeconds(1));
                load.verdict.count("clients", "shutdownAsync in 1 s");
                break;
            default:
                client.shutdown();
                load.verdict.count("clients", "shutdown");
        }
    }

    private RedissonClient make(int place) {
        Config config = new Config().setLockWatchdogTimeout(WATCHDOG_MS);
        config.useSingleServer().setAddress(servers[PLACES[place]].url());
        if (random.nextBoolean()) { // half of them as users leave them
            config.useSingleServer().setTimeout(1000).setConnectTimeout(1000).setRetryAttempts(1);
        }
        if (random.nextInt(4) == 0) {
            config.setLazyInitialization(true);
        }
        RedissonClient client = Redisson.create(config);
        return random.nextBoolean() ? Options.releaseOnShutdown(client) : client;
    }
}

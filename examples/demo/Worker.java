// A worker of the demo: counts one sale in a plain file for every line that it reads, under the lock.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public final class Worker {
    private static void say(String event, long at) {
        System.out.println(event + " " + at);
    }

    public static void main(String[] args) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(args[0]);
        config.setLockWatchdogTimeout(Long.parseLong(args[3]) * 1000);
        RedissonClient client = Redisson.create(config);
        RLock lock = client.getLock(args[1]);
        Path stock = Path.of(args[2]);
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));

        say("ready", System.nanoTime()); // on Linux the clock that the other languages read, CLOCK_MONOTONIC
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            say("waits", System.nanoTime());
            lock.lock();
            long end;
            try {
                say("holds", System.nanoTime());
                long sold = Long.parseLong(Files.readString(stock));
                if (order.equals("hang")) {
                    say("hangs", System.nanoTime());
                    Thread.sleep(3_600_000);
                }
                Thread.sleep(1);
                Files.writeString(stock, Long.toString(sold + 1));
                end = System.nanoTime();
            } finally {
                lock.unlock();
            }
            say("frees", end);
            Thread.sleep(ThreadLocalRandom.current().nextLong(4));
        }
        client.shutdown();
    }
}

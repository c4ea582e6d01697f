// A worker of the demo: counts one sale in a plain file for every line that it reads, under the lock.

import io.redlatch.Redlatch;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public final class Worker {
    private static final int RETRIES = 40; // half a minute

    private static void say(String event, long at) {
        System.out.println(event + " " + at);
    }

    /** The other languages have all of it in the URL. A replica has a lock before it is told of: that is the default. */
    private static Config config(String url) {
        String[] hosts = url.substring(url.indexOf("//") + 2).split("[/?]")[0].split(",");
        String[] addresses = Arrays.stream(hosts).map(host -> "redis://" + host).toArray(String[]::new);
        Config config = new Config();
        if (url.startsWith("redis+cluster")) {
            config.useClusterServers().addNodeAddress(addresses).setRetryAttempts(RETRIES);
        } else if (url.startsWith("redis+sentinel")) {
            config.useSentinelServers().setMasterName("demo").addSentinelAddress(addresses).setRetryAttempts(RETRIES);
        } else {
            config.useSingleServer().setAddress(url);
        }
        return config;
    }

    @SuppressWarnings("deprecation") // there is nothing in the place of red locks
    public static void main(String[] args) throws Exception {
        long watchdog = Long.parseLong(args[3]) * 1000;
        List<RedissonClient> clients = new ArrayList<>();
        for (String url : args[0].split(" ")) {
            clients.add(
                    url.startsWith("mariadb") || url.startsWith("zookeeper")
                            ? Redlatch.connect(url + "?watchdog=" + args[3])
                            : Redisson.create(config(url).setLockWatchdogTimeout(watchdog)));
        }
        RLock[] locks = clients.stream().map(client -> client.getLock(args[1])).toArray(RLock[]::new);
        RLock lock = locks.length == 1 ? locks[0] : new RedissonRedLock(locks);
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
        clients.forEach(RedissonClient::shutdown);
    }
}

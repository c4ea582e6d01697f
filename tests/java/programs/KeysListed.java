import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.redisson.api.AsyncIterator;
import org.redisson.api.RKeys;
import org.redisson.api.RType;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.KeysScanOptions;

/** Keys listed, described, renamed. */
final class KeysListed implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RKeys keys = redisson.getKeys();
        show.redis("FLUSHDB");
        show.line("none", sorted(keys.getKeys()), keys.randomKey(), keys.getKeysStream().count(), keys.getType("list:0"));
        for (int i = 0; i < 30; i++) {
            show.redis("SET", "list:" + i, "1");
        }
        redisson.getLock("a lock").lock();
        listed(keys, show);
        described(keys, show);
        renamed(keys, show);
    }

    @SuppressWarnings("deprecation")
    private static void listed(RKeys keys, Show show) throws Exception {
        show.line("all", sorted(keys.getKeys()));
        show.line("all", sorted(keys.getKeys(3)).size(), keys.getKeysStream().count(), keys.getKeysStream(7).count());
        show.line("some", sorted(keys.getKeysByPattern("list:2*")), sorted(keys.getKeysByPattern("*:3", 2)));
        show.line("some", keys.getKeysStreamByPattern("list:1?").sorted().collect(Collectors.toList()),
                keys.getKeysStreamByPattern("none*", 100).count());
        show.line("few", sorted(keys.getKeysWithLimit(4)).size(), sorted(keys.getKeysWithLimit("list:1*", 100)).size());
        KeysScanOptions options = KeysScanOptions.defaults().pattern("*").type(RType.MAP).chunkSize(5).limit(9);
        show.line("options", sorted(keys.getKeys(options)), keys.getKeysStream(options).count());
        show.line("random", keys.randomKey().matches("list:\\d+|a lock"), show.get(keys.randomKeyAsync()) != null);
        List<String> names = new ArrayList<>();
        collect(keys.getKeysAsync(KeysScanOptions.defaults().pattern("list:*").chunkSize(4)), names, show);
        collect(keys.getKeysAsync(), names, show);
        show.line("async", names.size(), new TreeSet<>(names).size());
    }

    private static void collect(AsyncIterator<String> iterator, List<String> names, Show show) throws Exception {
        while (show.get(iterator.hasNext())) {
            names.add(show.get(iterator.next()));
        }
    }

    @SuppressWarnings("deprecation")
    private static void described(RKeys keys, Show show) throws Exception {
        show.line("types", keys.getType("list:0"), keys.getType("a lock"), show.get(keys.getTypeAsync("none")));
        show.line("ends", keys.remainTimeToLive("list:0"), keys.remainTimeToLive("none"), keys.remainTimeToLive("a lock") > 0);
        show.line("ends", keys.expire("list:0", 50, TimeUnit.SECONDS), keys.expire("none", 50, TimeUnit.SECONDS),
                show.get(keys.remainTimeToLiveAsync("list:0")) > 20_000, keys.clearExpire("list:0"), keys.clearExpire("list:0"));
        show.line("ends", keys.expire(Duration.ofSeconds(50), "list:0", "list:1", "none"), keys.remainTimeToLive("list:1") > 20_000);
        show.line("ends", keys.expireAt("list:2", System.currentTimeMillis() + 50_000), keys.remainTimeToLive("list:2") > 20_000,
                keys.expireAt(Instant.now().plusSeconds(99), "list:2", "none"), keys.remainTimeToLive("list:2") > 60_000);
        show.line("ended", keys.expireAt(Instant.now().minusSeconds(1), "list:2"), keys.countExists("list:2"));
    }

    private static void renamed(RKeys keys, Show show) throws Exception {
        keys.rename("list:3", "list:3 renamed");
        show.line("renamed", keys.countExists("list:3", "list:3 renamed"), keys.renamenx("list:4", "list:5"),
                keys.renamenx("list:4", "list:4 renamed"), show.get(keys.renamenxAsync("list:6", "list:6 renamed")));
        show.of("none", () -> {
            keys.rename("none", "some");
            return "done";
        });
        show.line("all", keys.count() > 20);
        show.redis("FLUSHALL");
    }

    private static TreeSet<String> sorted(Iterable<String> names) {
        TreeSet<String> sorted = new TreeSet<>();
        names.forEach(sorted::add);
        return sorted;
    }
}

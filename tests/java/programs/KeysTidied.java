import org.redisson.api.RKeys;
import org.redisson.api.RedissonClient;

/** Keys that are left over. */
final class KeysTidied implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        for (int i = 0; i < 5; i++) {
            redisson.getSemaphore("tidy:" + i).trySetPermits(i + 1);
        }
        RKeys keys = redisson.getKeys();
        show.line("there", keys.countExists("tidy:0", "tidy:1", "tidy:9"), keys.touch("tidy:0", "tidy:9"));
        show.line("deleted", keys.delete("tidy:0", "tidy:9"), keys.delete(redisson.getSemaphore("tidy:1")), keys.unlink("tidy:2"));
        show.line("by pattern", keys.deleteByPattern("tidy:*"), keys.deleteByPattern("tidy:*"), show.get(keys.countExistsAsync("tidy:3")));
        show.redis("FLUSHDB");
        show.line("empty", keys.count());
    }
}

import org.redisson.api.RedissonClient;

/** What somebody would write with Redisson, in twenty lines. */
interface SmallProgram {
    void run(RedissonClient redisson, Show show) throws Exception;
}

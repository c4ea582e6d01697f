import org.redisson.api.RedissonClient;

/** A program of a user of Redisson, in twenty lines. */
interface SmallProgram {
    void run(RedissonClient redisson, Show show) throws Exception;
}

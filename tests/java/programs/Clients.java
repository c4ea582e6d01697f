import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Makes the clients of the small programs: of the library that they run with, or with `-Dbeside=true` those whose locks are ours beside Redisson. */
final class Clients {
    private Clients() {}

    static RedissonClient create(Config config) {
        RedissonClient client = Redisson.create(config);
        if (!Boolean.getBoolean("beside")) {
            return client;
        }
        try {
            return (RedissonClient) Class.forName("io.redlatch.beside.Beside").getMethod("of", RedissonClient.class).invoke(null, client);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}

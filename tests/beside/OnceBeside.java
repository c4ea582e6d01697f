import io.redlatch.beside.Beside;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A program of its own that locks once. */
public final class OnceBeside {
    private OnceBeside() {}

    public static void main(String... arguments) {
        try {
            System.out.println(run(arguments[0]));
        } catch (Throwable e) {
            System.out.println(e);
        }
        System.exit(0); // the threads of Redisson go on
    }

    public static String run(String url) {
        Config config = new Config();
        config.setLazyInitialization(true); // Redisson opens many connections else
        config.useSingleServer().setAddress(url);
        RedissonClient redisson = redisson(config);
        RedissonClient client = Beside.of(redisson);
        RLock lock = client.getLock("once");
        lock.lock();
        lock.unlock();
        client.shutdown();
        return "locked by " + lock.getClass().getName();
    }

    /** Null: the plain jar comes first, whose own client tells of the conflict as well. */
    private static RedissonClient redisson(Config config) {
        try {
            return Redisson.create(config);
        } catch (IllegalStateException e) {
            return null;
        }
    }
}

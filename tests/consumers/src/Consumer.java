import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A first program with the published jar. */
public final class Consumer {
    private Consumer() {}

    /** @param arguments an address */
    public static void main(String... arguments) {
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]);
        RedissonClient client = Redisson.create(config);
        RLock lock = client.getLock("consumer");
        lock.lock();
        System.out.println("locked with " + Redisson.class.getProtectionDomain().getCodeSource().getLocation());
        lock.unlock();
        client.shutdown();
    }
}

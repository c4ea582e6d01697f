import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The main class of a child JVM: lets go of a fair lock that no owner has. */
public final class UnlockFree {
    private UnlockFree() {}

    /** @param arguments an address and the lock's name */
    public static void main(String... arguments) {
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]);
        RedissonClient client = Redisson.create(config);
        client.getFairLock(arguments[1]).unlock();
        client.shutdown();
        System.out.println("unlocked");
    }
}

import io.redlatch.Redlatch;
import java.util.ArrayList;
import java.util.List;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * A service whose locks move from Redis to another system, without a stop. Its old release locks in Redis, its new one in a database or in
 * ZooKeeper. Until the last process of the old release is gone, the release between them holds both, so each of the three excludes the other two.
 */
public final class Moving {
    private static final String ORDER = "orders:42";

    private Moving() {}

    /** @param arguments the URL of Redis, and that of the other system: {@code mariadb://user:password@host/schema}, {@code zookeeper://host1,host2} */
    public static void main(String[] arguments) throws InterruptedException {
        RedissonClient redis = Redlatch.connect(arguments[0]);
        RedissonClient other = Redlatch.connect(arguments[1]);
        RLock both = other.getMultiLock(redis.getLock(ORDER), other.getLock(ORDER));
        try {
            List<Thread> releases = new ArrayList<>();
            releases.add(new Thread(() -> charge(redis.getLock(ORDER), "the old release")));
            releases.add(new Thread(() -> charge(both, "the release between")));
            releases.add(new Thread(() -> charge(other.getLock(ORDER), "the new release")));
            releases.forEach(Thread::start);
            for (Thread release : releases) {
                release.join();
            }
        } finally {
            other.shutdown(); // it frees all locks of this client, since its sessions end
            redis.shutdown();
        }
    }

    private static void charge(RLock lock, String release) {
        lock.lock();
        try {
            System.out.println(release + " charges under " + lock.getName());
        } finally {
            lock.unlock();
        }
    }
}

import java.util.concurrent.Callable;
import org.redisson.Redisson;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The main class of a child JVM with Redisson or with the library under test: sets latches to counts below 1, and says what comes of it. */
public final class LatchBelowOne {
    private LatchBelowOne() {}

    /** @param arguments an address */
    public static void main(String... arguments) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]).setConnectionMinimumIdleSize(1);
        RedissonClient client = Redisson.create(config);
        for (int count : new int[] {0, -1}) {
            RCountDownLatch latch = client.getCountDownLatch("latch" + count);
            say("set to " + count, () -> latch.trySetCount(count));
            say("count", latch::getCount);
            latch.await();
            say("open with a key", latch::isExists);
            say("set to 1", () -> latch.trySetCount(1));
            latch.countDown();
            say("a key after countDown", latch::isExists);
        }
        client.shutdown();
    }

    private static void say(String what, Callable<?> call) {
        try {
            System.out.println("| " + what + ": " + call.call());
        } catch (Exception e) {
            System.out.println("| " + what + ": " + e.getClass().getSimpleName());
        }
    }
}

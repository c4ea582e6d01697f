import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A program that has neither Reactor nor RxJava. */
final class WithoutStreams {
    private WithoutStreams() {}

    /** @param arguments an address */
    public static void main(String... arguments) {
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]);
        RedissonClient client = Redisson.create(config);
        client.getLock("without-streams").lock();
        System.out.println("locked");
        tell(client::reactive);
        tell(client::rxJava);
        client.getLock("without-streams").unlock();
        client.shutdown();
    }

    private static void tell(Runnable call) {
        try {
            call.run();
            System.out.println("there");
        } catch (UnsupportedOperationException e) {
            System.out.println(e.getMessage());
        }
    }
}

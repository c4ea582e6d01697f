import org.redisson.api.RedissonClient;

/** A client and the number of its server. */
final class Party {
    final RedissonClient client;
    final int server;
    /** Set before the client is shut down. */
    volatile boolean closing;

    Party(RedissonClient client, int server) {
        this.client = client;
        this.server = server;
    }
}

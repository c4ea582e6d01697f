// The measuring program for ours on other systems than Redis: `Ours <platform|virtual> <url>`.

import io.redlatch.Redlatch;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

public final class Ours implements Engine {
    private final RedissonClient client;

    private Ours(RedissonClient client) {
        this.client = client;
    }

    public static void main(String[] args) throws Exception {
        Orders.carryOut(new Ours(Redlatch.connect(args[1])), new Callers(args[0].equals("virtual")));
    }

    /** Callers are told apart by their threads. */
    @Override
    public Lock lock(String name, int caller) {
        RLock lock = client.getLock(name);
        return new Lock() {
            @Override
            public void acquire() {
                lock.lock();
            }

            @Override
            public void release() {
                lock.unlock();
            }
        };
    }

    @Override
    public void hold(String name) {
        client.getLock(name).lock();
    }
}

// The measuring program for org.redisson, compiled against our jar and against Redisson's: `Program <platform|virtual> <plain|fair|spin> <url>`.

import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public final class Program implements Engine {
    private final RedissonClient client;
    private final String kind;

    private Program(RedissonClient client, String kind) {
        this.client = client;
        this.kind = kind;
    }

    public static void main(String[] args) throws Exception {
        Config config = new Config();
        String[] url = args[2].split("[?]watchdog=");
        config.useSingleServer().setAddress(url[0]);
        config.setLockWatchdogTimeout(1000 * Long.parseLong(url.length > 1 ? url[1] : "30"));
        Orders.carryOut(new Program(Redisson.create(config), args[1]), new Callers(args[0].equals("virtual")));
    }

    /** Callers are told apart by their threads. */
    @Override
    public Lock lock(String name, int caller) {
        return new Mutex(of(name));
    }

    private RLock of(String name) {
        switch (kind) {
            case "plain": return client.getLock(name);
            case "fair": return client.getFairLock(name);
            case "spin": return client.getSpinLock(name);
            default: throw new IllegalArgumentException("there is no kind `" + kind + "`");
        }
    }

    @Override
    public ReadWrite readWrite(String name, int caller) throws Cannot {
        must(kind.equals("plain"));
        RReadWriteLock both = client.getReadWriteLock(name);
        return new ReadWrite(new Mutex(both.readLock()), new Mutex(both.writeLock()));
    }

    @Override
    public Lock permits(String name, int permits, int caller) throws Cannot {
        must(kind.equals("plain"));
        RSemaphore semaphore = client.getSemaphore(name);
        semaphore.trySetPermits(permits);
        return new Permits(semaphore);
    }

    private static void must(boolean measured) throws Cannot {
        if (!measured) {
            throw new Cannot();
        }
    }

    @Override
    public void hold(String name) {
        of(name).lock();
    }

    private record Mutex(RLock lock) implements Lock {
        @Override
        public void acquire() {
            lock.lock();
        }

        @Override
        public void release() {
            lock.unlock();
        }
    }

    private record Permits(RSemaphore semaphore) implements Lock {
        @Override
        public void acquire() throws InterruptedException {
            semaphore.acquire();
        }

        @Override
        public void release() {
            semaphore.release();
        }
    }
}

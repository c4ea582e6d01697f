// Locks of Apache ZooKeeper, by the recipes of Curator. Everything is the library's default unless a comment tells why not.

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.ExponentialBackoffRetry;

final class ZooKeeper implements Engine {
    private final CuratorFramework client;

    /** The lease is the session's timeout here; the retries are those of Curator's guide. */
    ZooKeeper(String address, int lease) {
        int connecting = 1000 * Math.min(15, lease);
        client = CuratorFrameworkFactory.newClient(address, 1000 * lease, connecting, new ExponentialBackoffRetry(1000, 3));
        client.start();
    }

    @Override
    public Lock lock(String name, int caller) {
        return lock(new InterProcessMutex(client, "/" + name));
    }

    @Override
    public ReadWrite readWrite(String name, int caller) {
        InterProcessReadWriteLock locks = new InterProcessReadWriteLock(client, "/" + name);
        return new ReadWrite(lock(locks.readLock()), lock(locks.writeLock()));
    }

    @Override
    public Lock permits(String name, int permits, int caller) {
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, "/" + name, permits);
        return new Lock() {
            private Lease lease;

            @Override
            public void acquire() throws Exception {
                lease = semaphore.acquire();
            }

            @Override
            public void release() {
                semaphore.returnLease(lease);
            }
        };
    }

    @Override
    public void hold(String name) throws Exception {
        new InterProcessMutex(client, "/" + name).acquire();
    }

    private static Lock lock(InterProcessMutex mutex) {
        return new Lock() {
            @Override
            public void acquire() throws Exception {
                mutex.acquire();
            }

            @Override
            public void release() throws Exception {
                mutex.release();
            }
        };
    }
}

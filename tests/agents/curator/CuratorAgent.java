// The agent of Curator: its locks on ZooKeeper, by the commands of the other agents. Each owner of a name has a thread of its own, because
// Curator's locks belong to threads.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.RetryOneTime;

public final class CuratorAgent {
    /** How long a session lives without a sign of life, in milliseconds. */
    private static final int SESSION = 3000;
    /** As good as without end. */
    private static final long FOREVER = TimeUnit.HOURS.toMillis(1);

    private final CuratorFramework client;
    private final Map<String, ExecutorService> owners = new ConcurrentHashMap<>();
    private final Map<String, Held> objects = new ConcurrentHashMap<>();
    private final Map<String, InterProcessReadWriteLock> readWrites = new ConcurrentHashMap<>();

    /** One lock of one owner. */
    private interface Held {
        /** Waits for so many milliseconds, and tells whether it has the lock. */
        boolean acquire(long wait) throws Exception;

        void release() throws Exception;
    }

    private CuratorAgent(CuratorFramework client) {
        this.client = client;
    }

    public static void main(String[] args) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient(URI.create(args[0]).getAuthority(), SESSION, SESSION, new RetryOneTime(100));
        client.start();
        client.blockUntilConnected();
        CuratorAgent agent = new CuratorAgent(client);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            agent.take(Lines.fields(line));
        }
        System.exit(0);
    }

    /** Starts one command on its owner's thread, which answers when the command has ended. */
    private void take(Map<String, String> command) {
        String id = command.get("id");
        String owner = command.get("owner") + " " + command.get("name");
        Callable<String> call = () -> run(command);
        owners.computeIfAbsent(owner, made -> Executors.newSingleThreadExecutor()).execute(() -> {
            try {
                Lines.answer(id, "\"ok\":" + call.call());
            } catch (Exception e) {
                Lines.fail(id, e);
            }
        });
    }

    private String run(Map<String, String> command) throws Exception {
        String what = command.get("do");
        if (what.equals("id")) {
            return Lines.quoted("0x" + Long.toHexString(client.getZookeeperClient().getZooKeeper().getSessionId()));
        }
        String key = command.get("kind") + " " + command.get("owner") + " " + command.get("name");
        Held held = objects.computeIfAbsent(key, made -> object(command));
        switch (what) {
            case "lock": return String.valueOf(held.acquire(FOREVER));
            case "try_lock": return String.valueOf(held.acquire(Long.parseLong(command.getOrDefault("wait", "0"))));
            case "unlock": held.release(); return "true";
            default: throw new IllegalArgumentException("no command `" + what + "`");
        }
    }

    private Held object(Map<String, String> command) {
        String name = command.get("name");
        String path = name.startsWith("/") ? name : "/" + name;
        switch (command.get("kind")) {
            case "plain": return mutex(new InterProcessMutex(client, path));
            case "read": return mutex(readWrite(path, command.get("owner")).readLock());
            case "write": return mutex(readWrite(path, command.get("owner")).writeLock());
            case "permit": return permit(new InterProcessSemaphoreV2(client, path, Integer.parseInt(command.get("permits"))));
            case "leader": return leader(path, command.get("owner"));
            default: throw new IllegalArgumentException("no kind `" + command.get("kind") + "`");
        }
    }

    /** Both locks of one owner come from one object: else it would not let a writer read. */
    private InterProcessReadWriteLock readWrite(String path, String owner) {
        return readWrites.computeIfAbsent(owner + " " + path, made -> new InterProcessReadWriteLock(client, path));
    }

    private static Held mutex(InterProcessMutex mutex) {
        return new Held() {
            @Override
            public boolean acquire(long wait) throws Exception {
                return mutex.acquire(wait, TimeUnit.MILLISECONDS);
            }

            @Override
            public void release() throws Exception {
                mutex.release();
            }
        };
    }

    private static Held permit(InterProcessSemaphoreV2 semaphore) {
        return new Held() {
            private Lease lease;

            @Override
            public boolean acquire(long wait) throws Exception {
                lease = semaphore.acquire(wait, TimeUnit.MILLISECONDS);
                return lease != null;
            }

            @Override
            public void release() {
                semaphore.returnLease(lease);
            }
        };
    }

    /** A latch stands for one candidacy: each acquire has one of its own. */
    private Held leader(String path, String id) {
        return new Held() {
            private LeaderLatch latch;

            @Override
            public boolean acquire(long wait) throws Exception {
                latch = new LeaderLatch(client, path, id);
                latch.start();
                boolean leads = latch.await(wait, TimeUnit.MILLISECONDS);
                if (!leads) {
                    latch.close();
                }
                return leads;
            }

            @Override
            public void release() throws Exception {
                latch.close();
            }
        };
    }
}

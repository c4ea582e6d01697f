import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RedissonClient;
import org.springframework.integration.leader.AbstractCandidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.LockRegistry;

/** The lock registry of Spring Integration over these locks, and its election of a leader. */
final class RegistryOfLocks implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        LockRegistry registry = key -> redisson.getLock("registry:" + key);
        show.line("executed", registry.<String, RuntimeException>executeLocked("group-1", () -> "in " + redisson.getLock("registry:group-1").isHeldByCurrentThread()));
        show.line("free", redisson.getLock("registry:group-1").isLocked());
        show.elsewhere(() -> redisson.getLock("registry:group-2").tryLock());
        show.of("busy", () -> registry.<String, RuntimeException>executeLocked("group-2", Duration.ofMillis(100), () -> "in"));
        BlockingQueue<String> events = new LinkedBlockingQueue<>();
        LockRegistryLeaderInitiator first = initiator(registry, events, "first");
        first.start();
        show.line("elected", events.poll(20, TimeUnit.SECONDS), redisson.getLock("registry:poller").isLocked());
        LockRegistryLeaderInitiator second = initiator(registry, events, "second");
        second.start();
        show.line("one of them", events.poll(200, TimeUnit.MILLISECONDS), redisson.getLock("registry:poller").isLocked());
        first.destroy();
        second.destroy();
    }

    private static LockRegistryLeaderInitiator initiator(LockRegistry registry, BlockingQueue<String> events, String node) {
        LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(registry, new AbstractCandidate(node, "poller") {
            @Override
            public void onGranted(Context context) {
                events.add(node + " leads");
            }

            @Override
            public void onRevoked(Context context) {
                events.add(node + " leads no more");
            }
        });
        initiator.setHeartBeatMillis(20);
        initiator.setBusyWaitMillis(20);
        return initiator;
    }
}

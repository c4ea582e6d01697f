import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** At most three calls of a service at once, from all processes together. */
final class SlotsOfAnApi implements SmallProgram {
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RedissonClient other = Clients.create(redisson.getConfig());
        redisson.getSemaphore("api").trySetPermits(3);
        redisson.getPermitExpirableSemaphore("api-ids").trySetPermits(3);
        List<CompletableFuture<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            RSemaphore semaphore = (i % 2 == 0 ? redisson : other).getSemaphore("api");
            all.add(show.started(() -> {
                semaphore.acquire();
                try {
                    return call();
                } finally {
                    semaphore.release();
                }
            }));
        }
        show.line("by number", ends(show, all), most.getAndSet(0) <= 3, redisson.getSemaphore("api").availablePermits());
        all.clear();
        for (int i = 0; i < 12; i++) {
            RPermitExpirableSemaphore semaphore = (i % 2 == 0 ? redisson : other).getPermitExpirableSemaphore("api-ids");
            all.add(show.started(() -> {
                String permit = semaphore.acquire(30, TimeUnit.SECONDS);
                try {
                    return call();
                } finally {
                    semaphore.release(permit);
                }
            }));
        }
        show.line("by id", ends(show, all), most.get() <= 3, redisson.getPermitExpirableSemaphore("api-ids").availablePermits());
        String forgotten = other.getPermitExpirableSemaphore("api-ids").tryAcquire(0, 100, TimeUnit.MILLISECONDS);
        other.shutdown();
        RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore("api-ids");
        List<String> rest = semaphore.tryAcquire(3, 15, 10, TimeUnit.SECONDS);
        show.line("a process forgot one", rest.size(), semaphore.tryRelease(forgotten), semaphore.tryRelease(rest));
    }

    private Boolean call() throws InterruptedException {
        int now = calls.incrementAndGet();
        most.accumulateAndGet(now, Math::max);
        Thread.sleep(3);
        calls.decrementAndGet();
        return true;
    }

    private static int ends(Show show, List<CompletableFuture<Boolean>> all) throws Exception {
        int count = 0;
        for (CompletableFuture<Boolean> each : all) {
            count += show.get(each) ? 1 : 0;
        }
        return count;
    }
}

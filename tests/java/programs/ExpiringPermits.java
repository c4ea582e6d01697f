import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;

/** Permits with names, which end by themselves. */
final class ExpiringPermits implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore("connections");
        show.line("set", semaphore.trySetPermits(3), semaphore.getPermits());
        String leased = semaphore.acquire(60, TimeUnit.SECONDS);
        List<String> both = semaphore.acquire(2);
        show.line("out", leased.length(), both.size(), semaphore.availablePermits(), semaphore.acquiredPermits(), semaphore.tryAcquire());
        // Only now, so that it is still out when the permits are counted, however slow the machine is.
        show.line("shorter", semaphore.updateLeaseTime(leased, 150, TimeUnit.MILLISECONDS));
        String next = semaphore.tryAcquire(15, 10, TimeUnit.SECONDS);
        show.line("after its end", next != null, semaphore.tryRelease(leased));
        show.of("again", () -> {
            semaphore.release(leased);
            return "done";
        });
        show.line("longer", semaphore.updateLeaseTime(next, 60, TimeUnit.SECONDS), semaphore.getLeaseTime(next) > 30_000,
                semaphore.getLeaseTime(both.get(0)));
        semaphore.release(next);
        show.line("back", semaphore.tryRelease(both), semaphore.tryRelease(both), semaphore.availablePermits(), semaphore.getPermits());
        semaphore.setPermits(1);
        show.line("fewer", semaphore.availablePermits(), semaphore.tryAcquire(2));
    }
}

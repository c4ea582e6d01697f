import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** The line of a log about work that took longer than its lease. */
final class UnlockTooLate implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        for (RLock lock : new RLock[] {redisson.getLock("late"), redisson.getSpinLock("late-spin"), redisson.getFencedLock("late-fenced"),
            redisson.getReadWriteLock("late-rw").writeLock(), redisson.getReadWriteLock("late-r").readLock()}) {
            lock.lock(60, TimeUnit.MILLISECONDS);
            show.until(() -> !lock.isLocked());
            show.line(lock.getName(), lock.isHeldByCurrentThread(), lock.getHoldCount(), lock.remainTimeToLive());
            failure(show, () -> {
                lock.unlock();
                return null;
            });
            failure(show, () -> show.get(lock.unlockAsync()));
            failure(show, () -> show.get(lock.unlockAsync(12345)));
            show.line("can be had again", lock.tryLock(1, 5, TimeUnit.SECONDS));
            lock.unlock();
        }
    }

    private static void failure(Show show, Callable<?> unlock) throws Exception {
        try {
            unlock.call();
            show.line("no exception");
        } catch (Exception e) {
            Throwable error = e instanceof IllegalMonitorStateException ? e : e.getCause();
            // The words differ; an operator looks for the client and the thread in them.
            show.line("text", error.getClass().getSimpleName(), error.getMessage().matches(".*\\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\\b.*"), error.getMessage().contains("thread"),
                    error.getMessage().contains(Thread.currentThread().getId() + "") || error.getMessage().contains("12345"));
        }
    }
}

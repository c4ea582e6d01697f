import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Objects of one name are one lock, and those of different kinds share its key. */
final class LocksByName implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        ConcurrentHashMap<Integer, RLock> cache = new ConcurrentHashMap<>();
        RLock first = cache.computeIfAbsent(42, id -> redisson.getLock("order:" + id));
        first.lock();
        show.line("one lock", redisson.getLock("order:42").isHeldByCurrentThread(), first == redisson.getLock("order:42"), first.equals(first));
        redisson.getLock("order:42").unlock();
        show.line("by the other object", first.isLocked());
        first.lock();
        show.line("as a spin lock", redisson.getSpinLock("order:42").isHeldByCurrentThread(), redisson.getSpinLock("order:42").tryLock(), first.getHoldCount());
        show.line("elsewhere", show.elsewhere(() -> redisson.getSpinLock("order:42").tryLock(50, TimeUnit.MILLISECONDS)));
        show.line("cleaned up", first.forceUnlock(), first.isLocked(), redisson.getLock("order:43").isLocked());
        show.line("long names", redisson.getLock("n".repeat(2000)).tryLock(), show.redis("EXISTS", "n".repeat(2000)));
    }
}

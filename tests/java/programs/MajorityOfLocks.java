import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** More than half of several locks. */
final class MajorityOfLocks implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock first = redisson.getLock("node:1");
        RLock second = redisson.getLock("node:2");
        RLock third = redisson.getLock("node:3");
        @SuppressWarnings("deprecation")
        RLock most = redisson.getRedLock(first, second, third);
        show.elsewhere(third::tryLock);
        show.line("one is taken", most.tryLock(5, 10, TimeUnit.SECONDS), first.isHeldByCurrentThread(), second.isHeldByCurrentThread());
        most.unlock();
        show.line("free", first.isLocked(), second.isLocked(), third.isLocked());
        show.elsewhere(second::tryLock);
        show.line("two are taken", most.tryLock(), first.isLocked());
    }
}

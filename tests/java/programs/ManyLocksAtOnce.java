import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** All of several locks, or none. */
final class ManyLocksAtOnce implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock first = redisson.getLock("account:1");
        RLock second = redisson.getLock("account:2");
        RLock third = redisson.getLock("account:3");
        RLock all = redisson.getMultiLock(first, second, third);
        all.lock();
        show.line("held", first.isLocked(), second.isLocked(), third.isHeldByCurrentThread(), third.getHoldCount());
        show.line("elsewhere", show.elsewhere(() -> redisson.getMultiLock(second, third).tryLock()));
        all.unlock();
        show.line("free", first.isLocked(), second.isLocked(), third.isLocked());
        show.elsewhere(third::tryLock);
        show.line("one is taken", all.tryLock(), all.tryLock(200, TimeUnit.MILLISECONDS), first.isLocked(), second.isLocked());
        third.forceUnlock();
        show.line("now", all.tryLock(5, 10, TimeUnit.SECONDS), first.remainTimeToLive() > 5_000);
        all.unlock();
        show.of("not held", () -> {
            all.unlock();
            return "done";
        });
    }
}

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** The first waiter is served first. */
final class FairTurns implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock lock = redisson.getFairLock("fair");
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        List<CompletableFuture<Boolean>> all = new ArrayList<>();
        lock.lock();
        for (int i = 1; i <= 4; i++) {
            int number = i;
            all.add(show.started(() -> {
                lock.lock();
                order.add(number);
                lock.unlock();
                return true;
            }));
            show.until(() -> Long.valueOf(number).equals(show.redis("LLEN", "redisson_lock_queue:{fair}")));
        }
        show.line("in vain", show.elsewhere(lock::tryLock), lock.isLocked());
        lock.unlock();
        for (CompletableFuture<Boolean> each : all) {
            show.get(each);
        }
        show.of("unlock of what is free", () -> {
            lock.unlock();
            return "returned";
        });
        show.line("order", order);
        show.line("free", lock.isLocked(), show.redis("LLEN", "redisson_lock_queue:{fair}"), lock.forceUnlock());
    }
}

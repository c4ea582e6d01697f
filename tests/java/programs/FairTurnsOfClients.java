import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Two processes queue at a counter, which prints whose turn it is. */
final class FairTurnsOfClients implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RedissonClient other = Clients.create(redisson.getConfig());
        RLock counter = redisson.getFairLock("counter");
        List<String> served = Collections.synchronizedList(new ArrayList<>());
        List<CompletableFuture<Boolean>> customers = new ArrayList<>();
        counter.lock();
        for (int i = 1; i <= 6; i++) {
            String customer = (i % 2 == 0 ? "b" : "a") + i;
            RLock lock = (i % 2 == 0 ? other : redisson).getFairLock("counter");
            customers.add(show.started(() -> {
                boolean isServed = lock.tryLock(40, 10, TimeUnit.SECONDS);
                served.add(customer);
                lock.unlock();
                return isServed;
            }));
            long length = i;
            show.until(() -> Long.valueOf(length).equals(show.redis("LLEN", "redisson_lock_queue:{counter}")));
        }
        show.line("queue", show.redis("LLEN", "redisson_lock_queue:{counter}"), show.redis("ZCARD", "redisson_lock_timeout:{counter}"));
        counter.unlock();
        for (CompletableFuture<Boolean> each : customers) {
            show.get(each);
        }
        show.line("served", served, counter.isLocked());
        other.shutdown();
    }
}

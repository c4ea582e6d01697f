import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Requests of one pool of threads, each with a number as its owner. */
final class OwnersByNumber implements SmallProgram {
    private int inside;
    private int most;

    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock lock = redisson.getLock("numbered");
        List<CompletableFuture<Void>> requests = new ArrayList<>();
        for (long id = 1; id <= 10; id++) {
            requests.add(request(lock, 90_000 + id).toCompletableFuture());
        }
        show.get(CompletableFuture.allOf(requests.toArray(new CompletableFuture<?>[0])));
        show.line("at most inside", most, lock.isLocked());
        long me = Thread.currentThread().getId();
        lock.lock();
        show.line("this thread", lock.isHeldByThread(me), lock.isHeldByThread(me + 1), show.get(lock.isHeldByThreadAsync(me)), show.elsewhere(() -> lock.isHeldByThread(me)));
        RedissonClient other = Clients.create(redisson.getConfig());
        show.line("the same number elsewhere", other.getLock("numbered").isHeldByThread(me), other.getLock("numbered").isLocked(), show.get(other.getLock("numbered").tryLockAsync(me)));
        other.shutdown();
        show.of("for it", () -> show.elsewhere(() -> show.get(lock.unlockAsync(me))));
        show.line("free", lock.isLocked());
    }

    private CompletionStage<Void> request(RLock lock, long id) {
        return lock.lockAsync(id).thenRunAsync(() -> {
            most = Math.max(most, ++inside);
            inside--;
        }).thenCompose(nothing -> lock.unlockAsync(id));
    }
}

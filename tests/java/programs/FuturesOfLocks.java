import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** The futures of asynchronous calls, as the JDK's. */
final class FuturesOfLocks implements SmallProgram {
    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock lock = redisson.getLock("futures");
        Future<Boolean> tried = lock.tryLockAsync(1);
        show.line("got", tried.get(20, TimeUnit.SECONDS), tried.isDone(), tried.isCancelled());
        RFuture<Void> waiting = lock.lockAsync(2);
        show.of("in time", () -> waiting.get(50, TimeUnit.MILLISECONDS));
        show.line("cancelled", waiting.cancel(true), waiting.isCancelled(), waiting.isDone(), waiting.cancel(true));
        show.of("its result", waiting::get);
        CompletableFuture<Boolean> late = lock.tryLockAsync(20, 20, TimeUnit.SECONDS, 3).toCompletableFuture();
        show.untilAnyWaits("redisson_lock__channel:{futures}");
        show.get(lock.unlockAsync(1));
        show.line("the next one", show.get(late.thenApply(isHeld -> isHeld + "!")), show.get(lock.isHeldByThreadAsync(3)));
        // Redisson hands a CompletionException to some handlers, and to others the error itself.
        show.of("handled", () -> show.get(lock.unlockAsync(4).handle((nothing, error) -> Show.bare(error).getClass().getSimpleName())));
        show.of("both", () -> show.get(lock.unlockAsync(3).thenCombine(redisson.getLock("futures-2").tryLockAsync(1), (nothing, isHeld) -> isHeld)));
        show.of("either", () -> show.get(redisson.getLock("futures-3").tryLockAsync(1).applyToEither(new CompletableFuture<Boolean>(), isHeld -> isHeld)));
        show.line("no locks", show.get(CompletableFuture.allOf(lock.isLockedAsync().toCompletableFuture(), lock.getHoldCountAsync().toCompletableFuture())));
        show.of("too late", () -> {
            lock.lock();
            try {
                return show.elsewhere(() -> lock.tryLockAsync(20, TimeUnit.SECONDS).toCompletableFuture().orTimeout(50, TimeUnit.MILLISECONDS).get());
            } finally {
                lock.forceUnlock();
            }
        });
    }
}

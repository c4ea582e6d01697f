import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** As a coroutine waits for a stage: it goes on at another thread, and has the number of its lock's owner with it. */
final class StagesOfCoroutines implements SmallProgram {
    private final ExecutorService dispatcher = Executors.newFixedThreadPool(2);

    @Override
    public void run(RedissonClient redisson, Show show) throws Exception {
        RLock lock = redisson.getLock("coroutines");
        CompletableFuture<String> done = new CompletableFuture<>();
        resume(lock.lockAsync(7_001), done, (nothing, self) ->
                resume(lock.isHeldByThreadAsync(7_001), self, (isHeld, same) ->
                        resume(lock.unlockAsync(7_001), same, (end, last) -> last.complete("held " + isHeld))));
        show.line("by number", show.get(done), lock.isLocked());

        CompletableFuture<String> lost = new CompletableFuture<>();
        resume(lock.lockAsync(), lost, (nothing, self) -> resume(lock.unlockAsync(), self, (end, last) -> last.complete("released")));
        show.of("by thread", () -> show.get(lost));
        show.line("still held", lock.isHeldByCurrentThread(), lock.forceUnlock());

        CompletableFuture<Boolean> first = show.get(lock.tryLockAsync(7_002)) ? lock.tryLockAsync(10, 10, TimeUnit.SECONDS, 7_003).toCompletableFuture() : null;
        show.line("suspended", first.isDone());
        show.untilAnyWaits("redisson_lock__channel:{coroutines}");
        lock.unlockAsync(7_002);
        show.line("resumed", show.get(first), show.get(lock.isHeldByThreadAsync(7_003)));
        show.get(lock.unlockAsync(7_003));
        dispatcher.shutdown();
    }

    private <V, R> void resume(CompletionStage<V> stage, CompletableFuture<R> coroutine, BiConsumer<V, CompletableFuture<R>> next) {
        stage.whenCompleteAsync((value, error) -> {
            if (error == null) {
                next.accept(value, coroutine);
            } else {
                coroutine.completeExceptionally(error);
            }
        }, dispatcher);
    }
}

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** A thread of a test, and its result. */
final class Worker<T> {
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final Thread thread;

    private Worker(Callable<T> work) {
        thread = new Thread(() -> {
            try {
                result.complete(work.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    static <T> Worker<T> start(Callable<T> work) {
        return new Worker<>(work);
    }

    /** Runs {@code work} on another thread, to the end. */
    static <T> T elsewhere(Callable<T> work) throws Exception {
        return start(work).get();
    }

    T get() throws Exception {
        try {
            return result.get(30, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception ? (Exception) e.getCause() : e;
        }
    }

    boolean isDone() {
        return result.isDone();
    }

    void interrupt() {
        thread.interrupt();
    }

    /** Waits until the thread is parked: then it is inside no native method. */
    void awaitParked() throws Exception {
        Wait.until("the thread is parked", () -> thread.getState() == Thread.State.WAITING);
    }

    /** Waits until the thread is parked, with a subscription to what it waits for. */
    void awaitWaiting(TestServer server, String lock) throws Exception {
        Wait.until("a thread waits for " + lock, () -> thread.getState() == Thread.State.WAITING && server.listeners(lock) == 1);
    }
}

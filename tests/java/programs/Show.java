import java.net.URI;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** Where a small program shows what it sees: one line each, without what differs from run to run. */
final class Show {
    /** Now and then a waiter of Redisson misses a message that comes just as it begins to wait, and sleeps until the lease is over. */
    private static final long PATIENCE_S = 50;

    private final String program;
    private final String id;
    private final URI server;

    Show(String program, String id, String url) {
        this.program = program;
        this.id = id;
        this.server = URI.create(url);
    }

    String url() {
        return server.toString();
    }

    void line(String what, Object... values) {
        StringBuilder line = new StringBuilder(program).append(": ").append(what);
        for (Object value : values) {
            line.append(' ').append(value);
        }
        System.out.println(line.toString().replace(id, "<id>"));
    }

    /** The result of a call, or the class of its exception: the words are each library's own. */
    void of(String what, Callable<?> call) {
        try {
            line(what, call.call());
        } catch (Throwable e) {
            failure(what, e);
        }
    }

    void failure(String what, Throwable e) {
        line(what, bare(e).getClass().getName());
    }

    /** The error without the exception of a future around it. */
    static Throwable bare(Throwable e) {
        return e instanceof ExecutionException || e instanceof CompletionException ? e.getCause() : e;
    }

    /** Whether it ends by being interrupted: at some moments Redisson wraps that. */
    boolean isInterruption(CompletableFuture<?> future) throws Exception {
        try {
            get(future);
            return false;
        } catch (ExecutionException e) {
            return e.getCause() instanceof InterruptedException || e.getCause().getCause() instanceof InterruptedException;
        }
    }

    <V> V elsewhere(Callable<V> call) throws Exception {
        return get(started(call));
    }

    /** Runs on a thread of its own. */
    <V> CompletableFuture<V> started(Callable<V> call) {
        CompletableFuture<V> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(call.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    <V> V get(CompletionStage<V> future) throws Exception {
        return future.toCompletableFuture().get(PATIENCE_S, TimeUnit.SECONDS);
    }

    Object redis(String... command) throws Exception {
        try (Resp resp = new Resp(server.getPort())) {
            return resp.call(command);
        }
    }

    /** Waits until a client listens to the channel. */
    void untilAnyWaits(String channel) throws Exception {
        until(() -> !String.valueOf(redis("PUBSUB", "NUMSUB", channel)).endsWith(" 0]"));
    }

    /** Waits until the call gives true. */
    void until(Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
        while (!condition.call()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("it does not become so");
            }
            Thread.sleep(5);
        }
    }
}

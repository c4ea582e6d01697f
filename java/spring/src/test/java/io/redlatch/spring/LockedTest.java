package io.redlatch.spring;

import io.redlatch.Redlatch;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Another client of the shared server, and a lock that each test has for itself. */
abstract class LockedTest {
    static Server server;
    static RedissonClient observer;

    final String id = UUID.randomUUID().toString();
    final RLock lock = observer.getLock("order:" + id);

    @BeforeAll
    static void connect() throws Exception {
        server = Server.shared();
        observer = Redlatch.connect(server.url());
    }

    @AfterAll
    static void shutdown() {
        observer.shutdown();
    }

    static String[] properties() {
        return new String[] {"redlatch.url=" + server.url()};
    }

    /** Starts a call on a thread of its own. */
    static <V> CompletableFuture<V> call(Callable<V> call) {
        CompletableFuture<V> end = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                end.complete(call.call());
            } catch (Throwable e) {
                end.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return end;
    }

    static <V> V end(CompletableFuture<V> call) throws Exception {
        try {
            return call.get(30, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }
}

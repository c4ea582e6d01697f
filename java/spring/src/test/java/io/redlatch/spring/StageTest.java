package io.redlatch.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.LockLostException;
import io.redlatch.Stats;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.springframework.context.ConfigurableApplicationContext;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Methods that return a stage or a {@code Mono}. */
class StageTest extends LockedTest {
    private static ConfigurableApplicationContext application;
    private static Orders orders;

    @BeforeAll
    static void start() {
        application = Apps.start(DistributedLockTest.Shops.class, properties());
        orders = application.getBean("orders", Orders.class);
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @AfterEach
    void nothing_stays_held() throws Exception {
        Wait.until("the lock is free", () -> !lock.isLocked());
    }

    private static long waiting() {
        return Stats.of(application.getBean(RedissonClient.class)).waiting();
    }

    @Test
    void a_stage_holds_the_lock_until_it_ends() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> call = orders.stage(id, work).toCompletableFuture();
        Wait.until("the lock is held", lock::isLocked);
        assertFalse(call.isDone());
        work.complete("paid");
        assertEquals("paid", end(call));
        assertFalse(lock.isLocked());
    }

    @Test
    void failures_of_a_stage_and_of_its_method_reach_the_caller() {
        IllegalStateException failure = new IllegalStateException("of the work");
        assertSame(failure, assertThrows(IllegalStateException.class, () -> end(orders.stage(id, CompletableFuture.failedFuture(failure))
                .toCompletableFuture())));
        assertSame(failure, assertThrows(IllegalStateException.class, () -> end(orders.future(id, () -> {
            throw failure;
        }))));
        assertThrows(LockLostException.class, () -> end(orders.future(id, () -> {
            lock.forceUnlock();
            return CompletableFuture.completedFuture("done");
        })));
    }

    @Test
    void a_taken_lock_is_the_error_or_the_emptiness_of_a_stage() throws Exception {
        lock.lock();
        assertThrows(LockBusyException.class, () -> end(orders.stage(id, CompletableFuture.completedFuture("ran")).toCompletableFuture()));
        assertNull(end(orders.skippedFuture(id)));
        lock.unlock();
        assertEquals(id, end(orders.skippedFuture(id)));
    }

    @Test
    void a_stage_that_is_cancelled_while_it_waits_never_calls_the_method() throws Exception {
        lock.lock();
        AtomicInteger ran = new AtomicInteger();
        CompletableFuture<String> call = orders.future(id, () -> CompletableFuture.completedFuture("" + ran.incrementAndGet()));
        Wait.until("the call waits", () -> waiting() == 1);
        call.cancel(true);
        Wait.until("the call waits no more", () -> waiting() == 0);
        lock.unlock();
        assertEquals("1", end(orders.future(id, () -> CompletableFuture.completedFuture("" + ran.incrementAndGet()))));
    }

    @Test
    void stages_exclude_each_other_under_load() throws Exception {
        int[] counter = new int[1];
        List<CompletableFuture<String>> calls = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            calls.add(orders.future(id, () -> {
                int before = counter[0];
                return CompletableFuture.supplyAsync(() -> {
                    counter[0] = before + 1;
                    return "counted";
                });
            }));
        }
        for (CompletableFuture<String> each : calls) {
            end(each);
        }
        assertEquals(200, counter[0]);
    }

    @Test
    void a_mono_holds_the_lock_for_each_subscription() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        Mono<String> mono = orders.mono(id, Mono.fromCallable(() -> {
            assertTrue(lock.isLocked());
            return "run " + calls.incrementAndGet();
        }));
        assertFalse(lock.isLocked());
        assertEquals("run 1", mono.block());
        assertFalse(lock.isLocked());
        assertEquals("run 2", mono.block());
        assertNull(orders.mono(id, Mono.empty()).block());
    }

    @Test
    void a_taken_lock_is_the_error_or_the_emptiness_of_a_mono() {
        lock.lock();
        assertThrows(LockBusyException.class, () -> orders.mono(id, Mono.just("ran")).block());
        assertNull(orders.skippedMono(id).block());
        lock.unlock();
        assertEquals(id, orders.skippedMono(id).block());
    }

    @Test
    void failures_and_losses_are_signals_of_a_mono() {
        IllegalStateException failure = new IllegalStateException("of the work");
        assertSame(failure, assertThrows(IllegalStateException.class, () -> orders.mono(id, Mono.error(failure)).block()));
        assertThrows(LockLostException.class, () -> orders.mono(id, Mono.fromCallable(() -> "lost " + lock.forceUnlock())).block());
        IllegalStateException both = assertThrows(IllegalStateException.class, () -> orders.mono(id, Mono.fromCallable(() -> {
            lock.forceUnlock();
            throw new IllegalStateException("of the work");
        })).block());
        assertTrue(List.of(both.getSuppressed()).stream().anyMatch(LockLostException.class::isInstance), List.of(both.getSuppressed()).toString());
        assertThrows(LockLostException.class, () -> orders.leasedMono(id, Mono.fromCallable(() -> {
            Wait.until("the lease has ended", () -> !lock.isLocked());
            return "late";
        })).block());
    }

    @Test
    void a_mono_that_is_cancelled_gives_the_lock_back() throws Exception {
        Sinks.One<String> never = Sinks.one();
        Disposable subscription = orders.mono(id, never.asMono()).subscribe();
        Wait.until("the lock is held", lock::isLocked);
        subscription.dispose();
        Wait.until("the lock is free", () -> !lock.isLocked());
    }
}

package io.redlatch.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.LockLostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.RedissonShutdownException;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Scope;
import org.springframework.scheduling.annotation.EnableAsync;

/** Methods that return a value. */
class DistributedLockTest extends LockedTest {
    private static ConfigurableApplicationContext application;
    private static Orders orders;

    /** A bean that expressions name. */
    static class Prefixes {
        public String of(String id) {
            return id;
        }
    }

    /** The methods that a proxy of the interface alone shows. */
    interface Shop {
        String sell(String id);
    }

    /** It stands on the interface's method through the class. */
    static class RealShop implements Shop {
        @Override
        @DistributedLock(name = "order:#{id}")
        public String sell(String id) {
            return String.valueOf(observer.getLock("order:" + id).isLocked());
        }
    }

    /** Each public method of it. */
    @DistributedLock(name = "order:#{id}")
    static class Guarded {
        public boolean first(String id) {
            return observer.getLock("order:" + id).isLocked();
        }

        @DistributedLock(name = "other:#{id}")
        public boolean second(String id) {
            return observer.getLock("other:" + id).isLocked() && !observer.getLock("order:" + id).isLocked();
        }

        boolean hidden(String id) {
            return observer.getLock("order:" + id).isLocked();
        }
    }

    /** It takes a lock when the application ends. */
    static class Farewell {
        private final Orders orders;
        static boolean locked;

        Farewell(Orders orders) {
            this.orders = orders;
        }

        void leave() throws Exception {
            locked = orders.pay("farewell", () -> observer.getLock("order:farewell").isLocked());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    @Import(Small.class)
    static class Shops {
        @Bean
        Orders orders() {
            return new Orders();
        }

        @Bean
        Prefixes prefixes() {
            return new Prefixes();
        }

        @Bean
        Guarded guarded() {
            return new Guarded();
        }

        @Bean
        RealShop shop() {
            return new RealShop();
        }

        @Bean
        @Scope("prototype")
        Orders another() {
            return new Orders();
        }

        @Bean(destroyMethod = "leave")
        Farewell farewell(Orders orders) {
            return new Farewell(orders);
        }
    }

    @BeforeAll
    static void start() {
        application = Apps.start(Shops.class, properties());
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

    private boolean locked() {
        return lock.isLocked();
    }

    @Test
    void the_method_runs_under_the_lock_and_gives_it_back() throws Exception {
        assertTrue(orders.pay(id, this::locked));
        assertFalse(locked());
        assertEquals("true", orders.once(id, () -> String.valueOf(locked())));
        assertEquals("true", orders.skipped(new Orders.Order(id), () -> String.valueOf(locked())));
        assertEquals("true", orders.ofBean(id, () -> String.valueOf(locked())));
        assertEquals("true", orders.ofMine(id, () -> String.valueOf(locked())));
        assertEquals("true", application.getBean(RealShop.class).sell(id));
        assertTrue(application.getBean("another", Orders.class).pay(id, this::locked));
        assertNotSame(application.getBean("another"), application.getBean("another"));
        assertTrue(end(orders.elsewhere(id, () -> Thread.currentThread().getName() + locked())).endsWith("true"));
        assertFalse(orders.elsewhere(id, () -> Thread.currentThread().getName()).get().equals(Thread.currentThread().getName()));
    }

    @Test
    void on_a_class_it_is_that_of_each_public_method_without_one() {
        Guarded guarded = application.getBean(Guarded.class);
        assertTrue(guarded.first(id));
        assertTrue(guarded.second(id));
        assertFalse(guarded.hidden(id));
    }

    @Test
    void a_proxy_of_an_interface_takes_it_too() {
        try (var other = Apps.start(Shops.class, "redlatch.url=" + server.url(), "spring.aop.proxy-target-class=false")) {
            Shop shop = other.getBean(Shop.class);
            assertFalse(shop instanceof RealShop);
            assertEquals("true", shop.sell(id));
        }
    }

    @Test
    void a_taken_lock_is_an_exception_that_names_it_and_the_wait() throws Exception {
        lock.lock();
        LockBusyException busy = assertThrows(LockBusyException.class, () -> orders.once(id, () -> "ran"));
        assertEquals("order:" + id, busy.lock());
        assertEquals(Duration.ZERO, busy.waited());
        assertTrue(busy.getMessage().contains("`order:" + id + "`"), busy.getMessage());
        lock.unlock();
        assertEquals("ran", orders.once(id, () -> "ran"));
    }

    @Test
    void a_taken_lock_is_passed_over_if_the_annotation_says_so() throws Exception {
        lock.lock();
        List<String> ran = new ArrayList<>();
        assertNull(orders.skipped(new Orders.Order(id), () -> "ran"));
        assertEquals(Optional.empty(), orders.maybe(id));
        orders.nothing(id, () -> ran.add("ran"));
        assertEquals(List.of(), ran);
        lock.unlock();
        orders.nothing(id, () -> ran.add("ran"));
        assertEquals(List.of("ran"), ran);
        assertEquals(Optional.of(id), orders.maybe(id));
    }

    @Test
    void without_a_wait_it_waits_as_long_as_it_takes() throws Exception {
        lock.lock();
        CompletableFuture<String> call = call(() -> orders.pay(id, () -> "ran"));
        Wait.until("the call waits", () -> io.redlatch.Stats.of(application.getBean(RedissonClient.class)).waiting() == 1);
        assertFalse(call.isDone());
        lock.unlock();
        assertEquals("ran", end(call));
    }

    @Test
    void a_thread_that_is_interrupted_while_it_waits_gets_nothing() throws Exception {
        lock.lock();
        Thread[] waiter = new Thread[1];
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Boolean> call = call(() -> {
            waiter[0] = Thread.currentThread();
            begun.countDown();
            LockInterruptedException told = assertThrows(LockInterruptedException.class, () -> orders.pay(id, () -> "ran"));
            assertEquals("order:" + id, told.lock());
            return Thread.interrupted();
        });
        begun.await();
        waiter[0].interrupt();
        assertTrue(end(call), "the flag stays");
        lock.unlock();
    }

    @Test
    void its_own_thread_enters_it_again_and_a_call_on_this_takes_none() throws Exception {
        assertEquals("inside", orders.once(id, () -> orders.once(id, () -> {
            assertTrue(locked());
            return "inside";
        })));
        assertFalse(orders.onThis(id, this::locked));
    }

    @Test
    void an_exception_of_the_method_reaches_the_caller_and_the_lock_is_free() {
        Exception thrown = new java.io.IOException("of the method");
        assertSame(thrown, assertThrows(java.io.IOException.class, () -> orders.pay(id, () -> {
            throw thrown;
        })));
        assertFalse(locked());
    }

    @Test
    void a_lost_lock_is_told_after_a_method_that_went_well() throws Exception {
        assertThrows(LockLostException.class, () -> orders.pay(id, () -> lock.forceUnlock()));
        IllegalStateException failed = assertThrows(IllegalStateException.class, () -> orders.pay(id, () -> {
            lock.forceUnlock();
            throw new IllegalStateException("of the method");
        }));
        assertEquals(LockLostException.class, failed.getSuppressed()[0].getClass());
    }

    @Test
    void a_lease_ends_by_itself() throws Exception {
        assertThrows(LockLostException.class, () -> orders.leased(id, () -> {
            Wait.until("the lease has ended", () -> !locked());
            return null;
        }));
    }

    @Test
    void a_name_without_a_value_is_refused_by_the_call() {
        InvalidDistributedLockException none = assertThrows(InvalidDistributedLockException.class, () -> orders.pay(null, () -> "ran"));
        assertTrue(none.getMessage().contains("Orders.pay") && none.getMessage().contains("#{id} is null"), none.getMessage());
        assertTrue(assertThrows(InvalidDistributedLockException.class, () -> orders.once("", () -> "ran")).getMessage().contains("#{#id} is empty"));
        assertTrue(assertThrows(InvalidDistributedLockException.class, () -> orders.skipped(null, () -> "ran")).getMessage().contains("#{order.id}"));
    }

    @Test
    void an_application_that_ends_gives_back_what_a_method_still_holds() throws Exception {
        ConfigurableApplicationContext other = Apps.start(Shops.class, properties());
        Farewell.locked = false;
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        CompletableFuture<String> call = call(() -> other.getBean("orders", Orders.class).pay(id, () -> {
            begun.countDown();
            closed.await();
            return "ran";
        }));
        begun.await();
        assertTrue(locked());
        other.close();
        assertFalse(locked());
        assertTrue(Farewell.locked, "a bean takes locks to its end");
        closed.countDown();
        Exception told = assertThrows(Exception.class, () -> end(call));
        assertTrue(told instanceof LockLostException || told instanceof RedissonShutdownException, told.toString());
    }

    @Test
    void a_server_that_is_gone_at_the_release_hides_no_exception_of_the_method() throws Exception {
        try (Server gone = Server.start(); var other = Apps.start(Shops.class, "redlatch.url=" + gone.url() + "?retry_for=0.1")) {
            Orders bean = other.getBean("orders", Orders.class);
            assertThrows(RedisException.class, () -> bean.pay(id, () -> {
                gone.stop();
                return "ran";
            }));
            gone.restart();
            IllegalStateException failed = assertThrows(IllegalStateException.class, () -> bean.pay(id, () -> {
                gone.stop();
                throw new IllegalStateException("of the method");
            }));
            assertEquals(1, failed.getSuppressed().length);
        }
    }

    @Test
    void two_applications_exclude_each_other_under_load() throws Exception {
        try (var other = Apps.start(Shops.class, properties())) {
            String counter = "counter:" + id;
            server.call("SET", counter, "0");
            List<CompletableFuture<Void>> calls = new ArrayList<>();
            for (ConfigurableApplicationContext each : List.of(application, other)) {
                for (int thread = 0; thread < 4; thread++) {
                    calls.add(call(() -> {
                        for (int time = 0; time < 50; time++) {
                            each.getBean("orders", Orders.class).pay(id, () -> {
                                long value = Long.parseLong(server.call("GET", counter));
                                Thread.yield();
                                return server.call("SET", counter, String.valueOf(value + 1));
                            });
                        }
                        return null;
                    }));
                }
            }
            for (CompletableFuture<Void> each : calls) {
                end(each);
            }
            assertEquals("400", server.call("GET", counter));
        }
    }
}

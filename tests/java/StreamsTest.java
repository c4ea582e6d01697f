import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.CompletableObserver;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Single;
import io.reactivex.rxjava3.core.SingleObserver;
import io.redlatch.LockLostException;
import io.redlatch.ReactiveLease;
import java.io.File;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import org.redisson.RedissonShutdownException;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RLockReactive;
import org.redisson.api.RLockRx;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonReactiveClient;
import org.redisson.api.RedissonRxClient;
import org.redisson.api.options.KeysScanOptions;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The types of Reactor and RxJava. What they do without trouble, the programs ReactiveLocks and RxLocks compare with Redisson. */
class StreamsTest extends LockTest {
    private static final int ROUNDS = 2000;
    private static final int LATEST_US = 1200;
    private static final long ALICE = 1_000_001;
    private static final long BOB = 1_000_002;

    private RedissonReactiveClient reactive;
    private RedissonRxClient rx;

    @BeforeEach
    void streams() {
        reactive = client.reactive();
        rx = client.rxJava();
    }

    /** The objects with the types of streams, by the names of their interfaces. */
    private Map<String, Object> objects() throws Exception {
        Map<String, Object> objects = new LinkedHashMap<>();
        for (Object factory : new Object[] {reactive, rx}) {
            Class<?> face = factory.getClass().getInterfaces()[0];
            objects.put(face.getSimpleName(), factory);
            for (Method method : face.getMethods()) {
                if (method.getName().startsWith("get") && List.of(method.getParameterTypes()).equals(List.of(String.class))) {
                    objects.put(method.getName() + " of " + face.getSimpleName(), method.invoke(factory, name));
                }
            }
            objects.put("getKeys of " + face.getSimpleName(), face.getMethod("getKeys").invoke(factory));
        }
        return objects;
    }

    @Test
    void every_method_of_every_interface_has_one_behind_it_and_asks_nothing_without_a_subscription() throws Exception {
        Object before = server.call("INFO", "commandstats");
        int methods = 0;
        TreeSet<String> faces = new TreeSet<>();
        for (Map.Entry<String, Object> each : objects().entrySet()) {
            Class<?> face = each.getValue().getClass().getInterfaces()[0];
            faces.add(face.getSimpleName());
            for (Method method : face.getMethods()) {
                if (method.getName().equals("shutdown") || method.getName().startsWith("getMultiLock") || method.getName().equals("getRedLock")) {
                    continue; // the one ends the client, the others want locks
                }
                Object[] inputs = IntStream.range(0, method.getParameterCount()).mapToObj(i -> anyOf(method.getParameterTypes()[i])).toArray();
                try {
                    method.invoke(each.getValue(), inputs);
                } catch (InvocationTargetException e) { // a name that is null, for example
                    assertFalse(e.getCause() instanceof AssertionError, each.getKey() + ": " + method + ": " + e.getCause());
                }
                methods++;
            }
        }
        assertTrue(methods > 500, methods + " methods");
        assertEquals(16, faces.size(), faces.toString());
        assertEquals(scripts(before), scripts(server.call("INFO", "commandstats")));
    }

    private static Object anyOf(Class<?> type) {
        return type.isPrimitive() ? Array.get(Array.newInstance(type, 1), 0) : type == String.class ? "any" : null;
    }

    /** What was counted of the commands that locks need. */
    private static String scripts(Object info) {
        return String.valueOf(info).lines().filter(line -> line.matches("cmdstat_(eval.*|set|del|scan|expire|pexpire).*")).map(line -> line.split(",")[0])
                .collect(Collectors.joining("\n"));
    }

    @Test
    void each_subscription_asks_anew() {
        Mono<Void> locked = reactive.getLock(name).lock(ALICE);
        locked.then(locked).block();
        Completable unlocked = rx.getLock(name).unlock(ALICE);
        unlocked.blockingAwait();
        assertTrue(lock.isHeldByThread(ALICE));
        unlocked.blockingAwait();
        assertFalse(lock.isLocked());
    }

    @Test
    void nothing_is_asked_before_the_subscriber_wants_an_element() throws Exception {
        BaseSubscriber<Boolean> patient = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {}
        };
        reactive.getLock(name).tryLock(ALICE).subscribe(patient);
        assertFalse(lock.isLocked());
        patient.request(1);
        Wait.until("it is acquired", () -> lock.isHeldByThread(ALICE));
        lock.unlockAsync(ALICE).get();
    }

    @Test
    void two_thousand_subscriptions_that_are_cancelled_at_random_moments_leave_nothing() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        RSemaphore semaphore = client.getSemaphore(name + "-semaphore");
        RPermitExpirableSemaphore permits = client.getPermitExpirableSemaphore(name + "-permits");
        RFencedLock fenced = client.getFencedLock(name + "-fenced");
        semaphore.trySetPermits(2);
        permits.trySetPermits(2);
        RLockReactive one = reactive.getLock(name);
        RLockRx two = rx.getLock(name);
        List<Supplier<Ask>> asks = List.of(
                () -> new Ask(ask -> one.lock(ask.owner).subscribe((Subscriber<? super Void>) ask), ask -> lock.unlockAsync(ask.owner)),
                () -> new Ask(ask -> one.tryLock(20, 20, SECONDS, ask.owner).subscribe((Subscriber<Object>) ask), ask -> lock.unlockAsync(ask.owner)),
                () -> new Ask(ask -> two.lock(ask.owner).subscribe(ask), ask -> lock.unlockAsync(ask.owner)),
                () -> new Ask(ask -> two.tryLock(20, 20, SECONDS, ask.owner).subscribe(ask), ask -> lock.unlockAsync(ask.owner)),
                () -> new Ask(ask -> reactive.getSemaphore(semaphore.getName()).acquire().subscribe((Subscriber<? super Void>) ask),
                        ask -> semaphore.releaseAsync()),
                () -> new Ask(ask -> reactive.getPermitExpirableSemaphore(permits.getName()).acquire().subscribe((Subscriber<Object>) ask),
                        ask -> permits.releaseAsync((String) ask.value)),
                () -> new Ask(ask -> rx.getPermitExpirableSemaphore(permits.getName()).acquire().subscribe(ask),
                        ask -> permits.releaseAsync((String) ask.value)),
                () -> new Ask(ask -> reactive.getFencedLock(fenced.getName()).lock(ask.owner).subscribe((Subscriber<? super Void>) ask),
                        ask -> fenced.unlockAsync(ask.owner)));
        List<List<Ask>> made = asks.stream().map(each -> new ArrayList<Ask>()).collect(Collectors.toList());
        for (int round = 0; round < ROUNDS; round++) {
            int which = random.nextInt(asks.size());
            Ask ask = asks.get(which).get();
            made.get(which).add(ask);
            ask.subscribe(ALICE + round);
            LockSupport.parkNanos(random.nextInt(LATEST_US) * 1000L);
            ask.cancel.run();
        }
        Supplier<String> seen = () -> "seed " + seed + ", in time " + made.stream().map(each -> each.stream().filter(Ask::hasCome).count() + " of " + each.size())
                .collect(Collectors.joining(", "));
        Wait.until("no lock is held, " + seen.get(), () -> !lock.isLocked() && !fenced.isLocked());
        Wait.until("all permits are back, " + seen.get(), () -> semaphore.availablePermits() == 2 && permits.availablePermits() == 2);
        Wait.until("no client waits, " + seen.get(), () -> server.listeners(name) == 0);
        made.forEach(each -> assertTrue(each.stream().anyMatch(Ask::hasCome) && !each.stream().allMatch(Ask::hasCome), seen));
    }

    /** A subscriber of any of the libraries. It gives back what it gets. */
    private static final class Ask implements Subscriber<Object>, SingleObserver<Object>, CompletableObserver {
        private final Consumer<Ask> start;
        private final Consumer<Ask> giveBack;
        private volatile long owner;
        private volatile Object value;
        private volatile boolean came;
        private volatile Runnable cancel;

        Ask(Consumer<Ask> start, Consumer<Ask> giveBack) {
            this.start = start;
            this.giveBack = giveBack;
        }

        void subscribe(long owner) {
            this.owner = owner;
            start.accept(this);
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            cancel = subscription::cancel;
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onSubscribe(io.reactivex.rxjava3.disposables.Disposable subscription) {
            cancel = subscription::dispose;
        }

        @Override
        public void onNext(Object element) {
            value = element;
        }

        @Override
        public void onSuccess(Object element) {
            value = element;
            onComplete();
        }

        @Override
        public void onError(Throwable error) {}

        @Override
        public void onComplete() {
            came = true;
            giveBack.accept(this);
        }

        boolean hasCome() {
            return came;
        }
    }

    @Test
    void a_guarded_chain_that_is_cancelled_at_random_moments_holds_nothing() throws Exception {
        Random random = new Random();
        List<Supplier<Mono<Boolean>>> chains = List.of(
                () -> Mono.usingWhen(ReactiveLease.lock(lock), lease -> Mono.just(true).delayElement(Duration.ofMillis(1)), ReactiveLease::close),
                () -> Mono.usingWhen(ReactiveLease.tryLock(lock, Duration.ofSeconds(20), Duration.ofSeconds(60)),
                        lease -> Mono.just(true).delayElement(Duration.ofMillis(1)), ReactiveLease::close).timeout(Duration.ofMillis(1), Mono.empty()));
        for (int round = 0; round < 600; round++) {
            Disposable chain = chains.get(round % 2).get().subscribe();
            LockSupport.parkNanos(random.nextInt(2 * LATEST_US) * 1000L);
            chain.dispose();
        }
        Wait.until("nothing is held", () -> !lock.isLocked());
        Wait.until("no client waits", () -> server.listeners(name) == 0);
        assertFalse(lock.isLocked());
    }

    @Test
    void a_lease_of_a_subscription_guards_its_work() throws Exception {
        Mono<Boolean> guarded = Mono.usingWhen(ReactiveLease.lock(lock, Duration.ofSeconds(60)), lease -> Mono.fromSupplier(() -> {
            lease.hold().ensure();
            return lock.isLocked();
        }), ReactiveLease::close);
        assertTrue(guarded.block() && guarded.block() && !lock.isLocked());
        lock.lockAsync(ALICE).get();
        assertEquals(Optional.empty(), ReactiveLease.tryLock(lock, Duration.ZERO).blockOptional());
        lock.unlockAsync(ALICE).get();
        Mono<?> losing = Mono.usingWhen(ReactiveLease.lock(lock), lease -> Mono.fromRunnable(lock::forceUnlock), ReactiveLease::close);
        assertInstanceOf(LockLostException.class, assertThrows(RuntimeException.class, losing::block).getCause());
        assertThrows(IllegalArgumentException.class, () -> ReactiveLease.lock(lock, Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> ReactiveLease.tryLock(lock, Duration.ZERO, Duration.ofNanos(1)));
        RLock foreign = (RLock) Proxy.newProxyInstance(RLock.class.getClassLoader(), new Class<?>[] {RLock.class}, (proxy, method, inputs) -> null);
        assertThrows(IllegalArgumentException.class, () -> ReactiveLease.lock(foreign));
    }

    @Test
    void errors_are_signals_and_not_exceptions_of_the_call() throws Exception {
        Mono<Void> notHeld = reactive.getLock(name).unlock(ALICE);
        assertThrows(IllegalMonitorStateException.class, notHeld::block);
        Completable notHeldEither = rx.getLock(name).unlock(ALICE);
        assertThrows(IllegalMonitorStateException.class, notHeldEither::blockingAwait);
        Mono<Boolean> negative = reactive.getSemaphore(name).tryAcquire(-1);
        assertThrows(IllegalArgumentException.class, negative::block);
        Single<Boolean> negativeToo = rx.getSemaphore(name).tryAcquire(-1);
        assertThrows(IllegalArgumentException.class, negativeToo::blockingGet);
        Flux<String> nameless = reactive.getKeys().getKeys(KeysScanOptions.defaults().pattern(""));
        assertThrows(IllegalArgumentException.class, nameless::blockLast);
        Flowable<String> namelessToo = rx.getKeys().getKeys(KeysScanOptions.defaults().pattern(""));
        assertThrows(IllegalArgumentException.class, namelessToo::blockingLast);
        lock.lockAsync(ALICE).get();
        server.call("DEL", name);
        Throwable lost = assertThrows(IllegalMonitorStateException.class, reactive.getLock(name).unlock(ALICE)::block);
        assertInstanceOf(LockLostException.class, lost.getCause());
        client.shutdown();
        assertThrows(RedissonShutdownException.class, reactive.getLock(name).tryLock()::block);
        assertTrue(reactive.isShutdown() && rx.isShutdown());
    }

    @Test
    void what_is_not_there_is_no_element() throws Exception {
        assertTrue(rx.getPermitExpirableSemaphore(name).tryAcquire().isEmpty().blockingGet());
        assertEquals(Optional.empty(), reactive.getPermitExpirableSemaphore(name).tryAcquire().blockOptional());
        client.getFencedLock(name).lockAsync(ALICE).get();
        assertEquals(Optional.empty(), Worker.elsewhere(() -> reactive.getFencedLock(name).tryLockAndGetToken().blockOptional()));
        assertTrue(Worker.elsewhere(() -> rx.getFencedLock(name).tryLockAndGetToken().isEmpty().blockingGet()));
        client.getFencedLock(name).unlockAsync(ALICE).get();
    }

    @Test
    void a_chain_that_times_out_gives_its_wait_up() throws Exception {
        lock.lockAsync(ALICE).get();
        Mono<Void> limited = reactive.getLock(name).lock(BOB).timeout(Duration.ofMillis(50));
        assertInstanceOf(TimeoutException.class, assertThrows(RuntimeException.class, limited::block).getCause());
        assertThrows(RuntimeException.class, rx.getLock(name).lock(BOB).timeout(50, MILLISECONDS)::blockingAwait);
        Wait.until("nothing waits", () -> server.listeners(name) == 0);
        lock.unlockAsync(ALICE).get();
        assertFalse(lock.isLocked());
    }

    @Test
    void a_multi_lock_has_the_locks_that_it_is_given_whatever_their_kind() throws Exception {
        RLockReactive fair = reactive.getFairLock(name + "-fair");
        assertTrue(reactive.getMultiLock(fair, reactive.getLock(name)).tryLock(ALICE).block());
        assertTrue(client.getFairLock(name + "-fair").isHeldByThread(ALICE) && lock.isHeldByThread(ALICE));
        assertTrue(rx.getMultiLock(rx.getLock(name), rx.getSpinLock(name)).isHeldByThread(ALICE).blockingGet());
        RLockReactive foreign = (RLockReactive) Proxy.newProxyInstance(RLockReactive.class.getClassLoader(), new Class<?>[] {RLockReactive.class},
                (proxy, method, inputs) -> method.invoke(fair, inputs));
        String message = assertThrows(IllegalArgumentException.class, () -> reactive.getMultiLock(fair, foreign)).getMessage();
        assertTrue(message.contains("no wrapper"), message);
    }

    @Test
    void names_of_many_pages_come_as_far_as_they_are_wanted() throws Exception {
        for (int i = 0; i < 300; i++) {
            server.call("SET", name + "-key-" + i, "");
        }
        KeysScanOptions options = KeysScanOptions.defaults().pattern(name + "-key-*").chunkSize(20);
        assertEquals(300, new HashSet<>(reactive.getKeys().getKeys(options).collectList().block()).size());
        assertEquals(300, new HashSet<>(rx.getKeys().getKeys(options).toList().blockingGet()).size());
        assertEquals(7, reactive.getKeys().getKeys(options).take(7).collectList().block().size());
        assertEquals(7, rx.getKeys().getKeys(options).take(7).toList().blockingGet().size());
        assertEquals(List.of(), reactive.getKeys().getKeys(KeysScanOptions.defaults().pattern(name + "-none-*")).collectList().block());
    }

    @Test
    void a_cancelled_list_of_names_asks_for_no_further_page() throws Exception {
        for (int i = 0; i < 3000; i++) {
            server.call("SET", name + "-key-" + i, "");
        }
        KeysScanOptions none = KeysScanOptions.defaults().pattern("none:*").chunkSize(1);
        List<Supplier<Runnable>> lists = List.of(() -> reactive.getKeys().getKeys(none).subscribe()::dispose,
                () -> rx.getKeys().getKeys(none).subscribe()::dispose);
        for (Supplier<Runnable> list : lists) {
            long before = scans();
            Runnable cancel = list.get();
            Wait.until("it scans", () -> scans() > before + 3);
            cancel.run();
            lock.lock(); // its answer comes behind that of the page under way
            lock.unlock();
            long after = scans();
            lock.lock();
            lock.unlock();
            assertTrue(after - before < 2000 && scans() <= after + 1, before + ", " + after + ", " + scans());
        }
    }

    private long scans() throws Exception {
        Matcher calls = Pattern.compile("cmdstat_scan:calls=(\\d+)").matcher(String.valueOf(server.call("INFO", "commandstats")));
        return calls.find() ? Long.parseLong(calls.group(1)) : 0;
    }

    @Test
    void a_subscription_of_rxjava_is_disposed_once_it_is_over() throws Exception {
        io.reactivex.rxjava3.disposables.Disposable tried = rx.getLock(name).tryLock(ALICE).subscribe();
        Wait.until("it is over", tried::isDisposed);
        lock.unlockAsync(ALICE).get();
    }

    @Test
    void two_views_of_one_object_are_equal_and_show_it() {
        Object semaphore = reactive.getSemaphore(name);
        assertEquals(semaphore, semaphore);
        assertNotEquals(semaphore, reactive.getSemaphore(name + "-other"));
        assertTrue(reactive.toString().equals(client.toString()) && reactive.hashCode() == client.hashCode());
    }

    @Test
    void a_program_without_the_libraries_runs_and_is_told_which_one_is_missing() throws Exception {
        for (String jars : new String[] {"", "reactor-core|reactive-streams", "rxjava|reactive-streams", "reactive-streams"}) {
            Child child = new Child(Child.jar(), Child.classes());
            for (String path : System.getProperty("optional.classpath").split(File.pathSeparator)) {
                if (new File(path).getName().matches("(" + jars + ")-[0-9].*")) {
                    child.behind(path);
                }
            }
            String reactor = jars.startsWith("reactor") ? "there" : "reactive() needs io.projectreactor:reactor-core, .*";
            String rxjava = jars.startsWith("rxjava") ? "there" : "rxJava\\(\\) needs io.reactivex.rxjava3:rxjava, .*";
            String output = child.run(WithoutStreams.class, server.url());
            String told = output.lines().filter(line -> line.matches("locked|there|.* needs .*|ended by itself")).collect(Collectors.joining("\n"));
            assertTrue(told.matches("locked\n" + reactor.replace("()", "\\(\\)") + "\n" + rxjava + "\nended by itself"), jars + ": " + output);
        }
    }
}

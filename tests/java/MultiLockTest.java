import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.Hold;
import io.redlatch.Holds;
import io.redlatch.Lease;
import io.redlatch.LockLostException;
import io.redlatch.LostReason;
import io.redlatch.internal.Answer;
import io.redlatch.internal.Core;
import io.redlatch.internal.Request;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.RedissonMultiLock;
import org.redisson.RedissonRedLock;
import org.redisson.RedissonShutdownException;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisResponseTimeoutException;

/** One lock of several, on three servers. */
@SuppressWarnings("deprecation")
class MultiLockTest {
    private final TestServer[] servers = new TestServer[3];
    private final RedissonClient[] clients = new RedissonClient[3];
    private final RLock[] locks = new RLock[3];

    @BeforeEach
    void start() throws Exception {
        for (int i = 0; i < 3; i++) {
            servers[i] = TestServer.start();
            clients[i] = servers[i].connect();
            locks[i] = clients[i].getLock("lock");
        }
    }

    @AfterEach
    void stop() {
        for (int i = 0; i < 3; i++) {
            clients[i].shutdown();
            servers[i].close();
        }
    }

    @Test
    void a_lock_that_is_given_twice_is_one_lock() throws Exception {
        RLock same = clients[0].getLock("lock");
        RLock transfer = clients[0].getMultiLock(locks[0], same, locks[1], locks[0]);
        transfer.lock();
        assertTrue(locks[0].isHeldByCurrentThread() && locks[1].isHeldByCurrentThread());
        assertEquals(1, locks[0].getHoldCount());
        assertFalse(Worker.elsewhere(() -> same.tryLock()));
        assertTrue(transfer.tryLock());
        transfer.unlock();
        transfer.unlock();
        assertFalse(locks[0].isLocked() || locks[1].isLocked());
        assertTrue(clients[0].getMultiLock(same, same).tryLock());
    }

    @Test
    void a_lease_shorter_than_a_round_trip_is_taken_and_over_as_of_one_lock() throws Exception {
        RLock all = new RedissonMultiLock(locks);
        Worker<?> holder = Worker.start(() -> {
            all.lock(500, MICROSECONDS);
            return assertThrows(IllegalMonitorStateException.class, all::unlock);
        });
        holder.get();
        assertTrue(Worker.elsewhere(() -> all.tryLock(20_000_000, 1, MICROSECONDS)));
        Wait.until("the lease is over", () -> !locks[0].isLocked() && !locks[1].isLocked() && !locks[2].isLocked());
    }

    @Test
    void it_takes_all_of_its_locks_or_none_and_any_object_releases_it() throws Exception {
        RLock all = new RedissonMultiLock(locks);
        all.lock();
        for (RLock lock : locks) {
            assertTrue(lock.isHeldByCurrentThread());
        }
        assertTrue(all.isHeldByCurrentThread() && all.isLocked());
        clients[1].getMultiLock(locks[2], locks[0], locks[1]).unlock();
        for (RLock lock : locks) {
            assertFalse(lock.isLocked());
        }
        assertThrows(IllegalMonitorStateException.class, all::unlock);
        CompletableFuture.runAsync(locks[1]::lock).get(10, SECONDS);
        assertFalse(all.tryLock());
        assertFalse(all.tryLock(50, MILLISECONDS));
        assertFalse(locks[0].isLocked() || locks[2].isLocked());
    }

    @Test
    void a_lease_counts_from_when_it_has_all_of_them() throws Exception {
        CompletableFuture.runAsync(() -> locks[2].lock(500, MILLISECONDS)).get(10, SECONDS);
        RLock all = new RedissonMultiLock(locks);
        assertTrue(all.tryLock(20, 5, SECONDS));
        for (RLock lock : locks) {
            long left = lock.remainTimeToLive();
            assertTrue(left > 3_000 && left <= 5_000, left + " ms");
        }
        all.unlock();
    }

    @Test
    void its_holder_is_told_when_one_lock_is_lost() throws Exception {
        RLock all = new RedissonMultiLock(locks);
        all.lock();
        Hold hold = Holds.of(all);
        hold.ensure();
        assertTrue(locks[1].forceUnlock());
        assertEquals(LostReason.DELETED, hold.lost().get(20, SECONDS).reason());
        assertInstanceOf(io.redlatch.LockLostException.class, assertThrows(IllegalMonitorStateException.class, all::unlock).getCause());
        assertFalse(locks[0].isLocked() || locks[2].isLocked());
    }

    @Test
    void a_majority_is_enough_for_a_red_lock() throws Exception {
        RLock most = clients[0].getRedLock(locks);
        servers[1].close();
        assertTrue(most.tryLock(20, SECONDS));
        assertTrue(locks[0].isLocked() && locks[2].isLocked());
        most.unlock();
        assertFalse(locks[0].isLocked() || locks[2].isLocked());
        assertInstanceOf(RedissonRedLock.class, most);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void a_client_that_was_shut_down_is_a_missing_vote_of_a_red_lock(int gone) throws Exception {
        RLock before = new RedissonRedLock(locks);
        clients[gone].shutdown();
        RLock most = new RedissonRedLock(locks);
        assertTrue(before.tryLock() && most.tryLock());
        before.unlock();
        assertTrue(most.isLocked() && most.isHeldByCurrentThread());
        for (int i = 0; i < 3; i++) {
            if (i != gone) {
                assertEquals(1L, servers[i].call("HLEN", "lock"));
            }
        }
        assertFalse(Worker.elsewhere(() -> new RedissonRedLock(locks).tryLock()));
        new RedissonRedLock(locks).unlock();
        for (TestServer server : servers) {
            assertEquals(0L, server.call("EXISTS", "lock"));
        }
    }

    @Test
    void a_red_lock_whose_clients_were_shut_down_but_a_minority_cannot_be_had_and_says_why() {
        clients[0].shutdown();
        clients[2].shutdown();
        RLock most = new RedissonRedLock(locks);
        assertThrows(RedissonShutdownException.class, most::tryLock);
        assertThrows(RedissonShutdownException.class, most::lock);
        clients[1].shutdown();
        assertThrows(RedissonShutdownException.class, () -> new RedissonRedLock(locks));
    }

    @Test
    void the_close_of_a_lease_that_ended_with_its_client_throws_and_leaves_a_later_hold_of_a_red_lock() {
        RLock most = new RedissonRedLock(locks);
        Lease lost = Lease.lock(most);
        int home = shutDownHome();
        Lease later = Lease.lock(most);
        assertEquals(LostReason.CLOSED, assertThrows(LockLostException.class, lost::close).reason());
        later.hold().ensure();
        for (int i = 0; i < 3; i++) {
            assertTrue(i == home || locks[i].isLocked(), "server " + i);
        }
        later.close();
        assertFalse(most.isLocked());
        String message = assertThrows(IllegalMonitorStateException.class, () -> Holds.of(most)).getMessage();
        assertTrue(message.contains("acquire it first"), message);
    }

    @Test
    void a_release_after_the_end_of_the_client_that_had_the_holds_of_a_red_lock_names_the_loss_once_for_each() throws Exception {
        RLock most = new RedissonRedLock(locks);
        most.lock();
        most.lock();
        shutDownHome();
        assertEquals(LostReason.CLOSED, Holds.of(most).reason().orElseThrow());
        assertTrue(most.tryLock());
        assertFalse(Holds.of(most).isLost());
        most.unlock();
        assertEquals(LostReason.CLOSED, Holds.of(most).lost().get(10, SECONDS).reason());
        Throwable ofFirst = assertThrows(IllegalMonitorStateException.class, most::unlock);
        assertInstanceOf(LockLostException.class, ofFirst.getCause(), ofFirst.toString());
        Throwable ofSecond = assertThrows(ExecutionException.class, () -> most.unlockAsync().get(10, SECONDS)).getCause();
        assertInstanceOf(LockLostException.class, ofSecond.getCause(), ofSecond.toString());
        assertNull(assertThrows(IllegalMonitorStateException.class, most::unlock).getCause());
    }

    @Test
    void waiters_of_a_red_lock_go_on_after_the_end_of_the_client_that_has_its_holds() throws Exception {
        RedissonClient[] others = {servers[0].connect(), servers[1].connect(), servers[2].connect()};
        RLock held = new RedissonRedLock(others[0].getLock("lock"), others[1].getLock("lock"), others[2].getLock("lock"));
        held.lock();
        RLock most = new RedissonRedLock(locks);
        Worker<?> blocked = Worker.start(() -> {
            most.lock();
            most.unlock();
            return true;
        });
        Worker<Boolean> inTime = Worker.start(() -> {
            boolean isTaken = most.tryLock(25, SECONDS);
            most.unlock();
            return isTaken;
        });
        RFuture<Boolean> later = most.tryLockAsync(25, 60, SECONDS, 1_000_000_007);
        RFuture<Boolean> inVain = most.tryLockAsync(500, 60_000, MILLISECONDS, 1_000_000_008);
        RFuture<Void> givenUp = most.lockAsync(1_000_000_009);
        blocked.awaitParked();
        inTime.awaitParked();
        shutDownHome();
        assertFalse(inVain.get(20, SECONDS));
        assertTrue(givenUp.cancel(false));
        held.unlock();
        assertTrue(later.get(20, SECONDS));
        most.unlockAsync(1_000_000_007).get(10, SECONDS);
        assertTrue(inTime.get());
        blocked.get();
        Wait.until("what was given up is given back", () -> !most.isLocked());
        for (RedissonClient other : others) {
            other.shutdown();
        }
    }

    @Test
    void a_hold_of_a_red_lock_is_one_object_whichever_lock_shows_it_and_after_the_end_of_another_client() throws Exception {
        RLock most = new RedissonRedLock(locks);
        most.lock();
        Hold hold = Holds.of(most);
        assertSame(hold, Holds.of(new RedissonRedLock(locks)));
        // Two votes are enough for `lock`. Without the third one this shutdown would lose the lock.
        Wait.until("every server has it", () -> Arrays.stream(locks).allMatch(RLock::isHeldByCurrentThread));
        clients[(home() + 1) % 3].shutdown();
        assertSame(hold, Holds.of(most));
        hold.ensure();
        most.unlock();
        assertThrows(IllegalMonitorStateException.class, hold::ensure);
    }

    @Test
    void a_client_that_ends_while_a_red_lock_is_made_counts_as_missing() throws Exception {
        int many = 300;
        Core open = Core.connect(servers[0].url(), Map.of(), null);
        Core gone = Core.connect(servers[0].url(), Map.of(), null);
        gone.close(false);
        String[] kinds = new String[many];
        Arrays.fill(kinds, "plain");
        byte[][] names = IntStream.range(0, many).mapToObj(i -> ("lock-" + i).getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new);
        for (int round = 0; round < 10; round++) {
            Core going = Core.connect(servers[0].url(), Map.of(), null);
            Core[] members = new Core[many]; // each that is gone takes its time, so the end of another one falls in between
            Arrays.fill(members, gone);
            members[0] = going;
            members[1] = open;
            CountDownLatch begun = new CountDownLatch(1);
            Worker<Core> making = Worker.start(() -> {
                begun.countDown();
                return Core.group(true, members, kinds, names);
            });
            begun.await();
            going.close(false);
            String home = making.get().id();
            assertTrue(home.equals(open.id()) || home.equals(going.id()), home); // the end of the other one may come after all
        }
        open.close(false);
    }

    @Test
    void a_red_lock_that_cannot_be_made_leaves_no_client_open() throws Exception {
        Core gone = Core.connect(servers[0].url(), Map.of(), null);
        Core unusable = Core.connect(servers[0].url(), Map.of(), null);
        gone.close(false);
        unusable.close(false);
        field("url").set(unusable, "nonsense");
        byte[][] names = {{1}, {2}};
        Core[] members = {gone, unusable};
        assertThrows(IllegalArgumentException.class, () -> Core.group(true, members, new String[] {"plain", "plain"}, names));
        Core later = Core.connect(servers[0].url(), Map.of(), null);
        Method id = Class.forName("io.redlatch.internal.Native").getDeclaredMethod("id", long.class);
        id.setAccessible(true);
        // Numbers grow, so the client that stood for the first one has one of these.
        for (long number = field("client").getLong(unusable) + 1; number < field("client").getLong(later); number++) {
            assertNull(id.invoke(null, number), "client " + number);
        }
        later.close(false);
    }

    @Test
    void a_release_while_the_client_that_has_the_holds_of_a_red_lock_is_being_shut_down_names_the_loss() throws Exception {
        RLock most = new RedissonRedLock(locks);
        most.lock();
        Object home = ofObject(locks[home()], "core");
        AtomicBoolean closed = (AtomicBoolean) field("closed").get(home);
        closed.set(true); // as it is until the native library knows
        try {
            Throwable cause = assertThrows(IllegalMonitorStateException.class, most::unlock).getCause();
            assertEquals(LostReason.CLOSED, assertInstanceOf(LockLostException.class, cause).reason());
            assertNull(assertThrows(IllegalMonitorStateException.class, most::unlock).getCause());
        } finally {
            closed.set(false);
        }
    }

    @Test
    void a_red_lock_remembers_no_hold_that_was_given_back_whichever_came_first() throws Exception {
        RLock most = new RedissonRedLock(locks);
        Lease before = Lease.lock(most);
        for (int i = 0; i < 20; i++) {
            Lease next = Lease.lock(most);
            before.close();
            before = next;
        }
        assertEquals(1, remembered(most));
        Lease inner = Lease.lock(most);
        assertEquals(2, remembered(most));
        shutDownHome();
        assertThrows(LockLostException.class, before::close);
        assertEquals(1, remembered(most));
        assertThrows(LockLostException.class, inner::close);
        assertEquals(0, remembered(most));
    }

    @Test
    void releases_of_one_owner_at_once_name_each_loss_of_a_red_lock_once() throws Exception {
        int holds = 500;
        long owner = 1_000_000_007;
        RLock most = new RedissonRedLock(locks);
        for (int i = 0; i < holds; i++) {
            most.lockAsync(owner).get(10, SECONDS);
        }
        shutDownHome();
        most.isLocked(); // makes the group that comes after
        Core group = (Core) ofObject(ofObject(most, "grouped"), "core");
        Request release = Request.release("plain", (byte[]) ofObject(most, "key"), owner);
        Answer notHeld = group.run(release);
        Object taken = ofObject(most, "taken");
        Method noted = taken.getClass().getDeclaredMethod("noted", Core.class, Request.class, Answer.class);
        noted.setAccessible(true);
        AtomicInteger named = new AtomicInteger();
        AtomicInteger begun = new AtomicInteger();
        List<Worker<?>> releasing = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            releasing.add(Worker.start(() -> {
                for (int j = 1; j <= holds; j++) {
                    begun.incrementAndGet();
                    while (begun.get() < 2 * j) { // both begin each time
                        Thread.onSpinWait();
                    }
                    Answer told = (Answer) noted.invoke(taken, group, release, notHeld);
                    named.addAndGet(told.status() == Answer.LOST ? 1 : 0);
                }
                return true;
            }));
        }
        for (Worker<?> each : releasing) {
            each.get();
        }
        assertEquals(holds, named.get());
    }

    @Test
    void a_release_of_a_red_lock_that_fails_after_the_end_of_its_clients_says_how_it_failed() throws Exception {
        RLock most = new RedissonRedLock(locks);
        most.lock();
        for (TestServer server : servers) {
            server.freeze();
        }
        RFuture<Void> release = most.unlockAsync();
        for (RedissonClient client : clients) {
            client.shutdownAsync();
        }
        Throwable refused = assertThrows(ExecutionException.class, () -> release.get(20, SECONDS)).getCause();
        assertInstanceOf(RedisResponseTimeoutException.class, refused);
    }

    /** How many holds a red lock remembers of this thread. */
    private static int remembered(RLock most) throws Exception {
        Map<?, ?> latest = (Map<?, ?>) ofObject(ofObject(most, "taken"), "latest");
        int count = 0;
        for (Object taken = latest.get(Thread.currentThread().getId()); taken != null; taken = ofObject(taken, "before")) {
            count++;
        }
        return count;
    }

    private static Object ofObject(Object object, String name) throws Exception {
        Class<?> type = object.getClass();
        while (Arrays.stream(type.getDeclaredFields()).noneMatch(field -> field.getName().equals(name))) {
            type = type.getSuperclass();
        }
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(object);
    }

    private static Field field(String name) throws Exception {
        Field field = Core.class.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    /** The client that has the holds of a red lock: that of the server which comes first in the order of texts. */
    private int home() {
        return IntStream.range(0, 3).boxed().min(Comparator.comparing(i -> "127.0.0.1:" + servers[i].port())).orElseThrow();
    }

    private int shutDownHome() {
        int home = home();
        clients[home].shutdown();
        return home;
    }

    @Test
    void an_interrupt_ends_the_wait_with_nothing_held() throws Exception {
        RLock first = clients[0].getLock("a");
        RLock last = clients[0].getLock("b");
        last.lock();
        RLock both = clients[0].getMultiLock(last, first);
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        Thread waiter = new Thread(() -> {
            try {
                both.lockInterruptibly();
                ended.complete(null);
            } catch (InterruptedException e) {
                ended.complete(e);
            }
        });
        waiter.start();
        Wait.until("the first lock is taken", first::isLocked);
        waiter.interrupt();
        assertInstanceOf(InterruptedException.class, ended.get(10, SECONDS));
        Wait.until("the first lock is given back", () -> !first.isLocked());
        last.unlock();
        assertFalse(both.isLocked() || last.isLocked());
    }

    @Test
    void locks_that_make_no_group_are_errors_that_say_why() {
        assertEquals("a multi lock of no locks; give it at least one", assertThrows(IllegalArgumentException.class, RedissonMultiLock::new).getMessage());
        IllegalArgumentException twice = assertThrows(IllegalArgumentException.class, () -> new RedissonRedLock(locks[0], locks[0]));
        assertTrue(twice.getMessage().contains("twice"), twice.getMessage());
        RLock wrapper = (RLock) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {RLock.class}, (p, m, a) -> null);
        assertThrows(IllegalArgumentException.class, () -> new RedissonMultiLock(wrapper));
        clients[0].shutdown();
        assertThrows(RedissonShutdownException.class, () -> new RedissonMultiLock(locks));
    }
}

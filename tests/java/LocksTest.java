import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.HeldLock;
import io.redlatch.Hold;
import io.redlatch.Holder;
import io.redlatch.Holds;
import io.redlatch.Leader;
import io.redlatch.Locks;
import io.redlatch.LostReason;
import io.redlatch.Redlatch;
import io.redlatch.Term;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.RedissonShutdownException;
import org.redisson.api.RFencedLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.NameMapper;

/** Lists of the locks that are held. */
class LocksTest extends LockTest {
    private static final String THEIRS = "6f1b1c9e-0c1d-4e2f-8a3b-4c5d6e7f8091";

    private static HeldLock only(RedissonClient client, String name) {
        Iterator<HeldLock> locks = Locks.of(client, name).iterator();
        HeldLock lock = locks.next();
        assertFalse(locks.hasNext());
        return lock;
    }

    private static Map<String, HeldLock> all(RedissonClient client, String pattern) {
        Map<String, HeldLock> all = new TreeMap<>();
        for (HeldLock held : Locks.of(client, pattern)) {
            assertEquals(null, all.put(held.name(), held), "it came twice");
        }
        return all;
    }

    @Test
    void a_lock_is_listed_with_its_holder_and_its_process() throws Exception {
        Locks locks = Locks.of(client, name);
        assertFalse(locks.iterator().hasNext());
        lock.lock();
        lock.lock();
        HeldLock held = only(client, name);
        assertEquals(List.of(name, "plain"), List.of(held.name(), held.kind()));
        assertTrue(held.isCertain());
        assertEquals(1, held.holderCount());
        assertEquals(OptionalLong.of(0), held.waiting());
        assertEquals(OptionalLong.empty(), held.token());
        assertEquals(List.of(), held.queue());
        Duration left = held.remaining().get();
        assertTrue(left.compareTo(Duration.ofSeconds(30)) <= 0 && left.compareTo(Duration.ofSeconds(15)) > 0, left.toString());
        Holder holder = held.holders().get(0);
        assertEquals(client.getId(), holder.client());
        assertEquals(Long.toString(Thread.currentThread().getId()), holder.owner());
        assertEquals(2, holder.holds());
        assertFalse(holder.writes());
        assertFalse(holder.mayBeRedisson());
        assertEquals(Optional.empty(), holder.remaining());
        assertEquals(Optional.of(InetAddress.getLocalHost().getHostName()), holder.host());
        assertEquals(OptionalLong.of(ProcessHandle.current().pid()), holder.process());
        lock.unlock();
        lock.unlock();
        Iterator<HeldLock> none = locks.iterator();
        assertThrows(NoSuchElementException.class, none::next);
    }

    @Test
    void every_kind_is_listed() throws Exception {
        RFencedLock fenced = client.getFencedLock(name + ":fenced");
        RPermitExpirableSemaphore permits = client.getPermitExpirableSemaphore(name + ":permits");
        permits.trySetPermits(3);
        client.getLock(name + ":plain").lock();
        long token = fenced.lockAndGetToken();
        client.getReadWriteLock(name + ":read").readLock().lock();
        client.getReadWriteLock(name + ":write").writeLock().lock();
        String permit = permits.acquire(60, TimeUnit.SECONDS);
        try (Term term = Leader.of(client, name + ":leader").lead()) {
            Map<String, HeldLock> found = all(client, name + ":*");
            Map<String, String> kinds = new TreeMap<>();
            found.forEach((key, held) -> kinds.put(key.substring(name.length() + 1), held.kind()));
            assertEquals(Map.of("fenced", "fenced", "leader", "leader", "permits", "permits", "plain", "plain", "read", "read", "write", "write"), kinds);
            assertEquals(OptionalLong.of(token), found.get(name + ":fenced").token());
            assertEquals(OptionalLong.of(term.token()), found.get(name + ":leader").token());
            assertTrue(found.get(name + ":write").holders().get(0).writes());
            Holder out = found.get(name + ":permits").holders().get(0);
            assertEquals(permit, out.client());
            assertTrue(out.remaining().get().compareTo(Duration.ofSeconds(30)) > 0);
        }
    }

    @Test
    void the_waiters_of_a_fair_lock_are_named() throws Exception {
        client.getFairLock(name).lock();
        Worker<Boolean> waiter = Worker.start(() -> client.getFairLock(name).tryLock(20, TimeUnit.SECONDS));
        Wait.until("a waiter is in the queue", () -> server.call("EXISTS", "redisson_lock_queue:{" + name + "}").equals(1L));
        HeldLock held = only(client, name);
        assertEquals("fair", held.kind());
        assertEquals(OptionalLong.of(1), held.waiting());
        assertEquals(client.getId(), held.queue().get(0).client());
        client.getFairLock(name).unlock();
        assertTrue(waiter.get());
    }

    @Test
    void a_holder_of_another_library_may_be_redisson_and_equal_locks_are_equal() throws Exception {
        server.call("HSET", name, THEIRS + ":31", "1");
        server.call("PERSIST", name);
        HeldLock held = only(client, name);
        Holder holder = held.holders().get(0);
        assertEquals(List.of(THEIRS, "31"), List.of(holder.client(), holder.owner()));
        assertTrue(holder.mayBeRedisson());
        assertEquals(Optional.empty(), holder.host());
        assertEquals(OptionalLong.empty(), holder.process());
        assertEquals(Optional.empty(), held.remaining());
        assertEquals(held, only(client, name));
        assertEquals(held.hashCode(), only(client, name).hashCode());
        assertTrue(held.toString().contains("mayBeRedisson=true"), held.toString());
        server.call("DEL", name);
        lock.lock();
        assertFalse(held.equals(only(client, name)));
        lock.unlock();
    }

    @Test
    void a_list_has_the_names_of_the_application() throws Exception {
        String before = name + "/";
        Config config = server.config();
        config.setNameMapper(new NameMapper() {
            @Override
            public String map(String mapped) {
                return before + mapped;
            }

            @Override
            public String unmap(String raw) {
                return raw.substring(before.length());
            }
        });
        RedissonClient mapping = Redisson.create(config);
        mapping.getLock("n").lock();
        assertEquals(List.of("n"), List.copyOf(all(mapping, "*").keySet()));
        assertEquals(List.of(before + "n"), List.copyOf(all(client, before + "*").keySet()));
        mapping.getLock("n").unlock();
        mapping.shutdown();
    }

    @Test
    void a_lock_is_taken_from_the_holder_that_a_list_has_shown_and_from_no_later_one() throws Exception {
        RedissonClient operator = server.connect();
        lock.lock();
        Hold first = Holds.of(lock);
        HeldLock held = only(operator, name);
        assertTrue(Locks.evict(operator, held));
        assertEquals(LostReason.DELETED, first.lost().get(20, TimeUnit.SECONDS).reason());
        assertFalse(Locks.evict(operator, held));
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
        operator.getLock(name).lock();
        assertFalse(Locks.evict(client, held));
        assertTrue(operator.getLock(name).isHeldByCurrentThread());
        operator.getLock(name).unlock();
        operator.shutdown();
    }

    @Test
    void an_eviction_names_what_it_cannot_end() throws Exception {
        RPermitExpirableSemaphore permits = client.getPermitExpirableSemaphore(name);
        permits.trySetPermits(1);
        permits.acquire(60, TimeUnit.SECONDS);
        HeldLock out = only(client, name);
        Exception refused = assertThrows(UnsupportedOperationException.class, () -> Locks.evict(client, out));
        assertTrue(refused.getMessage().contains("`" + name + "` has permits that are out; release each"), refused.getMessage());
        permits.delete();
        lock.lock();
        HeldLock held = only(client, name);
        RedissonClient sql = Redlatch.connect(TestMariadb.shared().url());
        assertThrows(UnsupportedOperationException.class, () -> Locks.evict(sql, held));
        assertThrows(NullPointerException.class, () -> Locks.evict(client, null));
        assertTrue(lock.isHeldByCurrentThread());
        lock.unlock();
        sql.shutdown();
        RedissonClient closed = server.connect();
        closed.shutdown();
        assertThrows(RedissonShutdownException.class, () -> Locks.evict(closed, held));
    }

    @Test
    void a_client_that_was_shut_down_and_other_servers_have_no_list() throws Exception {
        RedissonClient closed = server.connect();
        closed.shutdown();
        assertThrows(RedissonShutdownException.class, Locks.of(closed, "*").iterator()::hasNext);
        assertThrows(NullPointerException.class, () -> Locks.of(client, null));
        RedissonClient sql = Redlatch.connect(TestMariadb.shared().url());
        assertThrows(UnsupportedOperationException.class, Locks.of(sql, "*").iterator()::hasNext);
        sql.shutdown();
    }
}

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.redlatch.CurrentLeader;
import io.redlatch.Leader;
import io.redlatch.LockLostException;
import io.redlatch.LostReason;
import io.redlatch.Observer;
import io.redlatch.Term;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.RedissonShutdownException;
import org.redisson.api.RedissonClient;

/** Leaders: one process leads at a time, and all see who does. */
class LeaderTest extends LockTest {
    private static final Duration LONG = Duration.ofSeconds(20);

    private static String seen(Leader leader) {
        return leader.current().map(CurrentLeader::value).orElse(null);
    }

    @Test
    void one_leads_and_the_others_see_its_value_and_its_token() throws Exception {
        Leader one = Leader.of(client, name, "api-1:80");
        Leader other = Leader.of(client, name);
        assertEquals(name, one.getName());
        assertEquals(Optional.empty(), other.current());
        long first;
        try (Term term = one.lead()) {
            first = term.token();
            term.ensure();
            assertEquals("api-1:80", seen(other));
            assertEquals(first, other.current().get().token().getAsLong());
            assertEquals(one.current(), other.current());
            assertEquals(first, term.hold().token().getAsLong());
            assertEquals(Optional.empty(), other.tryLead(Duration.ZERO), "another candidate leads, of the same thread");
            assertEquals(Optional.empty(), other.tryLead(Duration.ofMillis(50)));
            assertFalse(client.getLock(name).tryLock());
        }
        assertEquals(Optional.empty(), one.current());
        assertEquals(0L, server.call("EXISTS", "redlatch_leader:{" + name + "}"));
        Term term = other.tryLead(Duration.ZERO).get();
        assertTrue(term.token() > first);
        assertEquals("", seen(one));
        term.close();
        term.close();
        assertThrows(IllegalMonitorStateException.class, term::ensure);
    }

    @Test
    void a_candidate_leads_as_soon_as_the_leader_resigns() throws Exception {
        Term term = Leader.of(client, name, "one").lead();
        Worker<Term> waiter = Worker.start(() -> Leader.of(client, name, "two").tryLead(LONG).get());
        Wait.until("the candidate listens", () -> server.listeners(name) == 1);
        term.close();
        try (Term next = waiter.get()) {
            assertEquals("two", seen(Leader.of(client, name)));
            assertTrue(next.token() > term.token());
        }
    }

    @Test
    void an_observer_gives_the_present_leader_and_each_change() throws Exception {
        Observer observer = Leader.of(client, name).observe();
        assertEquals(Optional.empty(), observer.next());
        for (String value : new String[] {"one", "two"}) {
            Worker<Optional<CurrentLeader>> hears = Worker.start(observer::next);
            Wait.until("the observer listens", () -> server.listeners(name) == 1);
            Term term = Leader.of(client, name, value).lead();
            Optional<CurrentLeader> leader = hears.get();
            assertEquals(value, leader.get().value());
            assertEquals(term.token(), leader.get().token().getAsLong());
            term.close();
            assertEquals(Optional.empty(), observer.next());
        }
    }

    @Test
    void a_leader_that_is_forced_out_is_told() throws Exception {
        Term term = Leader.of(client, name).lead();
        CompletableFuture<LockLostException> told = new CompletableFuture<>();
        term.onLost(told::complete);
        assertTrue(client.getLock(name).forceUnlock());
        LostReason reason = told.get(20, TimeUnit.SECONDS).reason();
        assertTrue(reason == LostReason.DELETED || reason == LostReason.TAKEN_OVER, reason.toString());
        assertThrows(LockLostException.class, term::ensure);
        assertThrows(LockLostException.class, term::close);
    }

    @Test
    void an_interrupt_ends_a_wait_and_leaves_nothing() throws Exception {
        Leader leader = Leader.of(client, name, "x");
        Observer observer = leader.observe();
        observer.next();
        Term term = leader.lead();
        observer.next();
        Thread candidate = new Thread(() -> assertThrows(InterruptedException.class, leader::lead));
        Thread observes = new Thread(() -> assertThrows(InterruptedException.class, observer::next));
        for (Thread thread : new Thread[] {candidate, observes}) {
            thread.start();
            Wait.until("it waits", () -> thread.getState() == Thread.State.WAITING);
            thread.interrupt();
            thread.join();
        }
        term.close();
        assertEquals(Optional.empty(), leader.current());
        assertEquals(Optional.empty(), observer.next(), "it misses nothing");
    }

    /** No monitor is held meanwhile: a virtual thread would keep its carrier. */
    @Test
    void an_interrupt_ends_the_wait_for_another_thread_of_the_same_observer() throws Exception {
        Observer observer = Leader.of(client, name).observe();
        observer.next();
        Thread first = new Thread(() -> assertThrows(InterruptedException.class, observer::next));
        Thread second = new Thread(() -> assertThrows(InterruptedException.class, observer::next));
        first.start();
        Wait.until("the observer listens", () -> server.listeners(name) == 1);
        second.start();
        Wait.until("it waits for the first thread", () -> second.getState() == Thread.State.WAITING || second.getState() == Thread.State.BLOCKED);
        second.interrupt();
        second.join(20_000);
        assertFalse(second.isAlive());
        assertTrue(first.isAlive());
        first.interrupt();
        first.join();
    }

    @Test
    void what_cannot_be_kept_is_refused() throws Exception {
        for (String value : new String[] {"x".repeat(65_537), "a\0b"}) {
            assertThrows(IllegalArgumentException.class, Leader.of(client, name, value)::lead);
        }
        assertThrows(IllegalArgumentException.class, Leader.of(client, "")::lead);
        assertThrows(NullPointerException.class, () -> Leader.of(client, name, null));
        assertThrows(NullPointerException.class, () -> Leader.of(client, null));
        assertThrows(IllegalArgumentException.class, () -> Leader.of(null, name));
        String value = "käse\n 1 🔒";
        try (Term term = Leader.of(client, name, value).lead()) {
            assertEquals(value, seen(Leader.of(client, name)), "of token " + term.token());
        }
    }

    @Test
    void a_lock_of_that_name_is_no_leader_of_ours() {
        client.getLock(name).lock();
        CurrentLeader holder = Leader.of(client, name).current().get();
        assertEquals("", holder.value());
        assertFalse(holder.token().isPresent());
        client.getLock(name).unlock();
    }

    @Test
    void the_end_of_a_client_resigns_and_ends_its_observers() throws Exception {
        RedissonClient other = Redisson.create(client.getConfig());
        Term term = Leader.of(other, name).lead();
        Observer observer = Leader.of(other, name).observe();
        observer.next();
        Worker<Optional<CurrentLeader>> hears = Worker.start(observer::next);
        Wait.until("the observer listens", () -> server.listeners(name) == 1);
        other.shutdown();
        Throwable ended = assertThrows(Exception.class, hears::get);
        while (ended.getCause() != null) {
            ended = ended.getCause();
        }
        assertEquals(RedissonShutdownException.class, ended.getClass());
        assertEquals(Optional.of(LostReason.CLOSED), term.hold().reason());
    }
}

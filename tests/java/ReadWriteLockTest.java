import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.options.CommonOptions;

/** The lock that many may hold for reading, or one for writing. */
class ReadWriteLockTest extends LockTest {
    @Test
    void many_threads_read_while_none_writes() throws Exception {
        RReadWriteLock both = client.getReadWriteLock(name);
        both.readLock().lock();
        assertTrue(Worker.elsewhere(() -> both.readLock().tryLock()));
        assertFalse(Worker.elsewhere(() -> both.writeLock().tryLock(50, MILLISECONDS)));
        assertTrue(both.readLock().isLocked());
        assertFalse(both.writeLock().isLocked());
        assertTrue(both.readLock().forceUnlock());
        both.writeLock().lock();
        assertEquals("1", server.call("HGET", name, client.getId() + ":" + Thread.currentThread().getId() + ":write"));
        assertFalse(Worker.elsewhere(() -> both.readLock().tryLock()));
        both.writeLock().unlock();
        assertEquals(0L, server.call("EXISTS", name));
    }

    @Test
    void a_writer_may_go_on_reading() throws Exception {
        RReadWriteLock both = client.getReadWriteLock(CommonOptions.name(name));
        both.writeLock().lock();
        both.readLock().lock();
        assertEquals(1, both.readLock().getHoldCount());
        both.writeLock().unlock();
        assertTrue(both.readLock().isHeldByCurrentThread());
        assertFalse(Worker.elsewhere(() -> both.writeLock().tryLock()));
        both.readLock().unlock();
        assertFalse(both.readLock().isLocked());
    }

    @Test
    void a_reader_is_refused_to_wait_for_itself() throws Exception {
        RReadWriteLock both = client.getReadWriteLock(name);
        both.readLock().lock();
        assertThrows(IllegalMonitorStateException.class, both.writeLock()::lock);
        assertFalse(both.writeLock().tryLock());
        assertFalse(both.writeLock().tryLock(50, MILLISECONDS));
        both.readLock().unlock();
    }

    @Test
    void a_writer_that_leaves_wakes_every_reader() throws Exception {
        RLock read = client.getReadWriteLock(name).readLock();
        RLock write = client.getReadWriteLock(name).writeLock();
        write.lock();
        Worker<Boolean> first = Worker.start(() -> read.tryLock(20, SECONDS));
        Worker<Boolean> second = Worker.start(() -> read.tryLock(20, SECONDS));
        write.unlock();
        assertTrue(first.get() && second.get());
    }
}

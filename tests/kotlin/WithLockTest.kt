import io.redlatch.LockLostException
import io.redlatch.Stats
import io.redlatch.kotlin.withLock
import io.redlatch.kotlin.withLockOrNull
import java.util.concurrent.CancellationException
import java.util.concurrent.atomic.AtomicInteger
import kotlin.random.Random
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.redisson.api.RLock
import org.redisson.api.RedissonClient

/** Locks in coroutines. */
class WithLockTest {
    private val server = TestServer.shared()
    private lateinit var client: RedissonClient
    private lateinit var lock: RLock

    @BeforeEach
    fun connect() {
        client = server.connect()
        lock = client.getLock("kotlin-" + NAMES.incrementAndGet())
    }

    @AfterEach
    fun disconnect() = client.shutdown()

    @Test
    fun work_holds_the_lock_at_whichever_thread_it_goes_on() = runBlocking {
        var inside = 0
        var most = 0
        val all = (1..50).map {
            launch(Dispatchers.Default) {
                lock.withLock {
                    most = maxOf(most, ++inside)
                    yield()
                    withContext(Dispatchers.IO) { assertTrue(lock.isLocked) }
                    inside--
                }
            }
        }
        all.joinAll()
        assertEquals(1, most)
        assertFalse(lock.isLocked)
    }

    @Test
    fun the_result_and_the_failure_are_those_of_the_work() {
        assertEquals("paid", runBlocking { lock.withLock(10.seconds) { "paid" } })
        val failure = assertThrows(IllegalStateException::class.java) { runBlocking { lock.withLock { error("no money") } } }
        assertEquals("no money", failure.message)
        assertFalse(lock.isLocked)
    }

    @Test
    fun a_wait_in_vain_is_null() = runBlocking {
        lock.withLock {
            assertNull(lock.withLockOrNull(30.milliseconds) { "in" })
        }
        assertEquals("in", lock.withLockOrNull(0.seconds, 10.seconds) { "in" })
        assertFalse(lock.isLocked)
    }

    @Test
    fun a_cancelled_waiter_leaves_nothing() = runBlocking {
        lock.withLock {
            val waiter = launch(Dispatchers.Default) { lock.withLock { error("it has the lock") } }
            Wait.until("it waits") { Stats.of(client).waiting() == 1L }
            waiter.cancelAndJoin()
            Wait.until("the request is given up") { Stats.of(client).waiting() == 0L }
        }
        nothingIsLeft()
    }

    /** The moments of the cancellation spread around the grant. */
    @Test
    fun a_coroutine_that_is_cancelled_about_when_the_lock_is_there_leaves_nothing() = runBlocking {
        repeat(300) {
            val waiter = launch(Dispatchers.Default) { lock.withLock { } }
            val spins = Random.nextInt(20_000)
            var spun = 0
            while (spun < spins) {
                spun++
                Thread.onSpinWait()
            }
            waiter.cancelAndJoin()
        }
        nothingIsLeft()
    }

    @Test
    fun cancelled_work_keeps_the_lock_to_its_end() = runBlocking {
        val begun = CompletableDeferred<Unit>()
        var wasLocked = false
        val worker = launch(Dispatchers.Default) {
            lock.withLock {
                try {
                    begun.complete(Unit)
                    delay(100.seconds)
                } finally {
                    wasLocked = lock.isLocked
                }
            }
        }
        begun.await()
        worker.cancelAndJoin()
        assertTrue(wasLocked)
        assertFalse(lock.isLocked)
    }

    @Test
    fun a_loss_is_thrown_and_suppressed_in_the_failure_of_the_work() {
        assertThrows(LockLostException::class.java) { runBlocking { lock.withLock { lock.forceUnlock() } } }
        val failure = assertThrows(IllegalStateException::class.java) {
            runBlocking {
                lock.withLock {
                    lock.forceUnlock()
                    error("no money")
                }
            }
        }
        assertTrue(failure.suppressed.any { it is LockLostException }, failure.stackTraceToString())
    }

    @Test
    fun a_coroutine_that_is_cancelled_before_it_begins_asks_for_nothing() {
        val before = Stats.of(client).acquired()
        runBlocking {
            val job = launch { lock.withLock { error("it has the lock") } }
            job.cancel(CancellationException("not wanted"))
            job.join()
        }
        assertEquals(before, Stats.of(client).acquired())
    }

    @Test
    fun a_bad_lease_is_refused() {
        val refusal = assertThrows(IllegalArgumentException::class.java) { runBlocking { lock.withLock(0.seconds) { } } }
        assertTrue(refusal.message!!.contains("1 ms"), refusal.message)
        assertFalse(lock.isLocked)
    }

    private fun nothingIsLeft() {
        Wait.until("nothing is held or waited for") {
            val stats = Stats.of(client)
            stats.held() == 0L && stats.waiting() == 0L && !lock.isLocked
        }
        assertEquals(0, Stats.of(client).lost().values.sum())
    }

    private companion object {
        val NAMES = AtomicInteger()
    }
}

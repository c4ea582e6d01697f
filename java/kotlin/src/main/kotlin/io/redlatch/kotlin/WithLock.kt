package io.redlatch.kotlin

import io.redlatch.Lease
import io.redlatch.LockLostException
import java.util.Optional
import java.util.concurrent.CompletableFuture
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.future.await
import kotlinx.coroutines.withContext
import org.redisson.api.RLock

/**
 * Runs [work] under this lock, and waits for the lock without a thread. The owner is the call, and no thread: [work] may go on at any thread, and a call
 * inside it for the same lock waits for itself.
 *
 * A coroutine that is cancelled while it waits gives the request up; one that is cancelled in [work] keeps the lock until [work] has ended.
 *
 * @param lease how long the lock lasts at most; null: it is renewed until [work] has ended
 * @throws LockLostException if the lock was lost and [work] did not fail; otherwise a loss is suppressed in the failure
 * @throws IllegalArgumentException if this lock was not made by redlatch, or [lease] is below 1 ms
 */
public suspend fun <T> RLock.withLock(lease: Duration? = null, work: suspend (Lease) -> T): T {
    val asked = if (lease == null) Lease.lockAsync(this) else Lease.lockAsync(this, lease.toJavaDuration())
    return taken(asked) { closeLater(it) }.use(work)
}

/**
 * As [withLock], and waits for [wait] at most.
 *
 * @return null if that was in vain; then [work] has not run
 */
public suspend fun <T : Any> RLock.withLockOrNull(wait: Duration, lease: Duration? = null, work: suspend (Lease) -> T): T? {
    val most = wait.toJavaDuration()
    val asked = if (lease == null) Lease.tryLockAsync(this, most) else Lease.tryLockAsync(this, most, lease.toJavaDuration())
    return taken(asked) { came -> came.ifPresent { closeLater(it) } }.orNull()?.use(work)
}

/** A coroutine that is cancelled when its answer is there, and before it goes on, gets none from `await`: then the answer goes back. */
private suspend fun <V> taken(asked: CompletableFuture<V>, giveBack: (V) -> Unit): V {
    try {
        return asked.await()
    } catch (e: Throwable) {
        if (!asked.cancel(false) && !asked.isCompletedExceptionally) {
            giveBack(asked.join())
        }
        throw e
    }
}

private suspend fun <T> Lease.use(work: suspend (Lease) -> T): T {
    val result = try {
        work(this)
    } catch (failure: Throwable) {
        try {
            end()
        } catch (atEnd: Throwable) {
            if (atEnd !== failure) {
                failure.addSuppressed(atEnd)
            }
        }
        throw failure
    }
    end()
    return result
}

private suspend fun Lease.end() {
    withContext(NonCancellable) { closeAsync().await() }
}

/** The cancelled coroutine does not wait for the release. */
private fun closeLater(lease: Lease) {
    lease.closeAsync()
}

private fun <V : Any> Optional<V>.orNull(): V? = orElse(null)

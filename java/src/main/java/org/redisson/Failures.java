package org.redisson;

import io.redlatch.Answer;
import io.redlatch.LockLostException;
import java.util.concurrent.CancellationException;
import org.redisson.client.RedisAuthRequiredException;
import org.redisson.client.RedisBusyException;
import org.redisson.client.RedisClusterDownException;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisLoadingException;
import org.redisson.client.RedisMasterDownException;
import org.redisson.client.RedisNoReplicasException;
import org.redisson.client.RedisOutOfMemoryException;
import org.redisson.client.RedisReadonlyException;
import org.redisson.client.RedisResponseTimeoutException;
import org.redisson.client.RedisTryAgainException;
import org.redisson.client.RedisWrongPasswordException;
import org.redisson.command.NoSyncedSlavesException;

/** The core's errors as the exceptions of this API. */
final class Failures {
    private Failures() {}

    /** The exception of a failed answer to what {@code threadId} of client {@code id} asked of the lock {@code rawName}. */
    static RuntimeException of(Answer answer, String rawName, String id, long threadId) {
        switch (answer.status()) {
            case Answer.NOT_HELD:
                return notLocked(id, threadId);
            case Answer.LOST:
                RuntimeException lost = notLocked(id, threadId);
                lost.initCause(LockLostException.of(answer));
                return lost;
            case Answer.ALREADY_HELD:
                return new IllegalMonitorStateException("Lock '" + rawName + "' is non-reentrant and is already held by thread " + threadId);
            case Answer.UNAVAILABLE:
                return new RedisConnectionException(answer.message());
            case Answer.TIMED_OUT:
                return new RedisResponseTimeoutException(answer.message());
            case Answer.NOT_SYNCED:
                return notSynced(answer.message());
            case Answer.REFUSED:
                return refused(answer.word(), answer.message());
            case Answer.CONFIG:
                return new IllegalArgumentException(answer.message());
            case Answer.UNSUPPORTED:
                return new UnsupportedOperationException(answer.message());
            case Answer.CLOSED:
                return new RedissonShutdownException("Redisson is shutdown");
            case Answer.CANCELLED:
                return new CancellationException(answer.message());
            default:
                return new RedisException(answer.message());
        }
    }

    /** As a future tells it: without what only Redisson's synchronous methods put around it. */
    static RuntimeException bare(RuntimeException error) {
        return error.getCause() instanceof NoSyncedSlavesException ? (RuntimeException) error.getCause() : error;
    }

    private static RuntimeException notSynced(String message) {
        return new RedisException("Unexpected exception while processing command", new NoSyncedSlavesException("None of slaves were synced. "
                + "Try to increase slavesSyncTimeout setting or set checkLockSyncedSlaves = false. (" + message + ")"));
    }

    /** There is no hold to know anything about. */
    static RuntimeException notHeld(String name, String id, long threadId) {
        return new IllegalMonitorStateException("`" + name + "` is not held by " + id + ":" + threadId + "; acquire it first");
    }

    private static RuntimeException notLocked(String id, long threadId) {
        return new IllegalMonitorStateException(
                "attempt to unlock lock, not locked by current thread by node id: " + id + " thread-id: " + threadId);
    }

    private static RedisException refused(String word, String message) {
        switch (word) {
            case "NOAUTH":
                return new RedisAuthRequiredException(message);
            case "WRONGPASS":
                return new RedisWrongPasswordException(message);
            case "OOM":
                return new RedisOutOfMemoryException(message);
            case "READONLY":
                return new RedisReadonlyException(message);
            case "BUSY":
                return new RedisBusyException(message);
            case "LOADING":
                return new RedisLoadingException(message);
            case "MASTERDOWN":
                return new RedisMasterDownException(message);
            case "NOREPLICAS":
                return new RedisNoReplicasException(message);
            case "CLUSTERDOWN":
                return new RedisClusterDownException(message);
            case "TRYAGAIN":
                return new RedisTryAgainException(message);
            default:
                return new RedisException(message);
        }
    }
}

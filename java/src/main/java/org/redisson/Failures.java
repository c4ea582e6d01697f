package org.redisson;

import io.redlatch.internal.Answer;
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

    /** The exception of a failed answer to a request of {@code threadId} of client {@code id} about the lock {@code rawName}. */
    static RuntimeException of(Answer answer, String rawName, String id, long threadId) {
        switch (answer.status()) {
            case Answer.NOT_HELD:
                return withoutHold(rawName, id, threadId);
            case Answer.LOST:
                RuntimeException lost = withoutHold(rawName, id, threadId);
                lost.initCause(answer.loss());
                return lost;
            case Answer.ALREADY_HELD:
                return new IllegalMonitorStateException(
                        "thread " + threadId + " has the lock `" + shown(rawName) + "`, which has no second hold; let it release the first one before");
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
                return shutDown();
            case Answer.CANCELLED:
                return new CancellationException(answer.message());
            default:
                return new RedisException(answer.message());
        }
    }

    static RedissonShutdownException shutDown() {
        return new RedissonShutdownException("this client was shut down; make another one with Redisson.create");
    }

    /** The error as a future fails with it: without the exception that only Redisson's synchronous methods put around it. */
    static RuntimeException bare(RuntimeException error) {
        return error.getCause() instanceof NoSyncedSlavesException ? (RuntimeException) error.getCause() : error;
    }

    /** The exception of Redisson's synchronous methods, around that of their asynchronous ones. */
    static RedisException wrapped(String what, RuntimeException cause) {
        return new RedisException(what + " failed: " + cause.getMessage(), cause);
    }

    private static RuntimeException notSynced(String message) {
        return wrapped("the acquire", new NoSyncedSlavesException(
                message + "; or set a longer slavesSyncTimeout, or checkLockSyncedSlaves to false, which takes the risk"));
    }

    /** The exception for a question about a hold that does not exist. */
    static RuntimeException notHeld(String name, String id, long threadId) {
        return new IllegalMonitorStateException("`" + name + "` is not held by " + id + ":" + threadId + "; acquire it first");
    }

    /** The exception for a release without a hold. */
    private static RuntimeException withoutHold(String rawName, String id, long threadId) {
        return new IllegalMonitorStateException("thread " + threadId + " of client " + id + " does not hold the lock `" + shown(rawName) + "`; let the thread that acquired it release it, "
                + "once, before its lease ends");
    }

    /** The lock's name for messages; of a lock of several values the group and the values. */
    private static String shown(String rawName) {
        int end = rawName.indexOf(0);
        String values = rawName.substring(end + 1).replace("\0", ", ").replace("\1", "");
        return end < 0 ? rawName : rawName.substring(0, end) + ": " + values;
    }

    private static RedisException refused(String word, String message) {
        switch (word) {
            case "NOAUTH":
                return new RedisAuthRequiredException(message);
            case "WRONGPASS":
            case "1045": // the same of MySQL and MariaDB
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

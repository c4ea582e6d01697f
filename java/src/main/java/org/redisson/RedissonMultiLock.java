package org.redisson;

import io.redlatch.internal.Core;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.redisson.api.RLock;

/**
 * One lock of several, which may belong to clients of other servers: an acquire takes all of them or none, one after the other in an order
 * that is the same everywhere. It is lost with the first of them that is. It answers for all of them: it is locked if all are, for the
 * shortest time of any. A lock that is given twice is one lock: a transfer between two accounts need not ask whether they are the same.
 */
public class RedissonMultiLock extends RedissonLock {
    /**
     * @param locks locks of this library's clients
     * @throws IllegalArgumentException if there is none, or one that is not of this library
     * @throws RedissonShutdownException if the client of one was shut down
     */
    public RedissonMultiLock(RLock... locks) {
        this(false, locks);
    }

    /** @param majority whether more than half of them are enough */
    RedissonMultiLock(boolean majority, RLock... locks) {
        super(placeOfAll(majority, locks), "plain");
    }

    private static Place placeOfAll(boolean majority, RLock... locks) {
        if (locks.length == 0) {
            throw new IllegalArgumentException("a multi lock of no locks; give it at least one");
        }
        RedissonBaseLock[] ours = Arrays.stream(locks).map(RedissonMultiLock::ours).toArray(RedissonBaseLock[]::new);
        if (!majority) { // of a majority each lock has a vote, and one that has two is a mistake
            ours = once(ours);
        }
        Core[] clients = Arrays.stream(ours).map(lock -> lock.core).toArray(Core[]::new);
        if (Arrays.stream(clients).anyMatch(Core::isClosed)) {
            throw Failures.shutDown();
        }
        String[] kinds = Arrays.stream(ours).map(lock -> lock.kind).toArray(String[]::new);
        byte[][] names = Arrays.stream(ours).map(lock -> lock.key).toArray(byte[][]::new);
        Core core = Core.group(majority, clients, kinds, names);
        String name = Arrays.stream(ours).map(RedissonBaseLock::getName).collect(Collectors.joining(", "));
        return new Place(null, core, new Listeners(core), name, name, Limits.OF_CLIENT);
    }

    /** The locks, each of them once, in their order. */
    private static RedissonBaseLock[] once(RedissonBaseLock[] locks) {
        List<RedissonBaseLock> once = new ArrayList<>();
        for (RedissonBaseLock lock : locks) {
            boolean isThere = once.stream()
                    .anyMatch(other -> other.core == lock.core && other.kind.equals(lock.kind) && Arrays.equals(other.key, lock.key));
            if (!isThere) {
                once.add(lock);
            }
        }
        return once.toArray(new RedissonBaseLock[0]);
    }

    private static RedissonBaseLock ours(RLock lock) {
        if (lock instanceof RedissonBaseLock) {
            return (RedissonBaseLock) lock;
        }
        throw new IllegalArgumentException(lock + " is no lock of a RedissonClient; give the lock that the client returned, and no wrapper of it");
    }
}

package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Core;
import io.redlatch.internal.KnownHold;
import io.redlatch.internal.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;

/**
 * One lock of several, which may belong to clients of other servers: an acquire takes all of them or none, one after the other in an order
 * that is the same everywhere. It is lost with the first of them that is. It answers for all of them: it is locked if all are, for the
 * shortest time of any. A lock that is given twice is one lock: a transfer between two accounts need not ask whether they are the same.
 */
public class RedissonMultiLock extends RedissonLock {
    private final boolean majority;
    private final RedissonBaseLock[] locks;
    private volatile Grouped grouped;
    /** Null: it takes all locks, and ends with the first of their clients. */
    private final TakenHolds taken;

    /**
     * @param locks locks of this library's clients
     * @throws IllegalArgumentException if there is none, or one that is not of this library
     * @throws RedissonShutdownException if the client of one was shut down; of a majority, if all were
     */
    public RedissonMultiLock(RLock... locks) {
        this(false, locks);
    }

    /** @param majority whether more than half of them are enough */
    RedissonMultiLock(boolean majority, RLock... locks) {
        this(majority, ours(majority, locks));
    }

    private RedissonMultiLock(boolean majority, RedissonBaseLock[] locks) {
        this(majority, locks, new Grouped(majority, locks));
    }

    private RedissonMultiLock(boolean majority, RedissonBaseLock[] locks, Grouped grouped) {
        super(placeOfAll(locks, grouped.core), "plain");
        this.majority = majority;
        this.locks = locks;
        this.grouped = grouped;
        this.taken = majority ? new TakenHolds(kind, key, getName()) : null;
    }

    private static RedissonBaseLock[] ours(boolean majority, RLock... locks) {
        if (locks.length == 0) {
            throw new IllegalArgumentException("a multi lock of no locks; give it at least one");
        }
        RedissonBaseLock[] ours = Arrays.stream(locks).map(RedissonMultiLock::ours).toArray(RedissonBaseLock[]::new);
        return majority ? ours : once(ours); // of a majority each lock has a vote, and one that has two is a mistake
    }

    private static Place placeOfAll(RedissonBaseLock[] locks, Core core) {
        String name = Arrays.stream(locks).map(RedissonBaseLock::getName).collect(Collectors.joining(", "));
        return new Place(null, core, new Listeners(core), name, name, Limits.OF_CLIENT);
    }

    /** The end of the client that has the group's holds must not end a majority: then there is a new group, with another client for them. */
    @Override
    Core core() {
        Grouped now = grouped;
        if (majority && now.isOutdated(locks)) {
            now = new Grouped(true, locks);
            grouped = now;
        }
        return now.core;
    }

    @Override
    Answer run(Request request) {
        if (!majority) {
            return super.run(request);
        }
        Regrouping call = new Regrouping(this::core, request);
        Answer answer;
        do {
            answer = call.group().run(call.request());
        } while (call.goesOnAfter(answer));
        return checked(taken.noted(call.group(), request, answer), call.group(), currentThread());
    }

    @Override
    Answer runInterruptibly(Request acquire) throws InterruptedException {
        if (!majority) {
            return super.runInterruptibly(acquire);
        }
        Regrouping call = new Regrouping(this::core, acquire);
        Answer answer;
        do {
            answer = call.group().runInterruptibly(call.request());
        } while (call.goesOnAfter(answer));
        return checked(taken.noted(call.group(), acquire, answer), call.group(), currentThread());
    }

    @Override
    <V> RFuture<V> submit(Request request, long threadId, Function<Answer, V> decode) {
        if (!majority) {
            return super.submit(request, threadId, decode);
        }
        Regrouping call = new Regrouping(this::core, request);
        return RedissonFuture.submit(call, answer -> decode.apply(checked(taken.noted(call.group(), request, answer), call.group(), threadId)));
    }

    @Override
    KnownHold formerHoldOf(long threadId) {
        return majority ? taken.lostBy(threadId) : null;
    }

    @Override
    void told(KnownHold hold) {
        if (majority) {
            taken.tell(hold);
        }
    }

    /** The core's group of the locks. */
    private static final class Grouped {
        private final Core core;
        private final int open;

        /** @throws RedissonShutdownException if too many clients were shut down */
        Grouped(boolean majority, RedissonBaseLock[] locks) {
            open = open(locks);
            if (majority ? open == 0 : open < locks.length) {
                throw Failures.shutDown();
            }
            Core[] clients = Arrays.stream(locks).map(RedissonBaseLock::core).toArray(Core[]::new);
            String[] kinds = Arrays.stream(locks).map(lock -> lock.kind).toArray(String[]::new);
            byte[][] names = Arrays.stream(locks).map(lock -> lock.key).toArray(byte[][]::new);
            core = Core.group(majority, clients, kinds, names);
        }

        boolean isOutdated(RedissonBaseLock[] locks) {
            return open(locks) != open;
        }

        private static int open(RedissonBaseLock[] locks) {
            int open = 0;
            for (RedissonBaseLock lock : locks) {
                open += lock.core().isClosed() ? 0 : 1;
            }
            return open;
        }
    }

    /** The locks, each of them once, in their order. */
    private static RedissonBaseLock[] once(RedissonBaseLock[] locks) {
        List<RedissonBaseLock> once = new ArrayList<>();
        for (RedissonBaseLock lock : locks) {
            boolean isThere = once.stream()
                    .anyMatch(other -> other.core() == lock.core() && other.kind.equals(lock.kind) && Arrays.equals(other.key, lock.key));
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

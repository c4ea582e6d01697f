package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Core;
import io.redlatch.internal.HoldSource;
import io.redlatch.internal.KnownHold;
import io.redlatch.internal.Request;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.redisson.api.ObjectListener;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;

/** The base of locks of every kind: the asynchronous half, over one kind of the core. */
public abstract class RedissonBaseLock implements RLock, HoldSource {
    private static final long FREE = -2;

    private final Core core;
    private final KeyEvents events;
    final String kind;
    final byte[] key;
    private final String name;
    private final Limits limits;

    RedissonBaseLock(Place place, String kind) {
        place.core.require(kind);
        this.core = place.core;
        this.events = new KeyEvents(place, kind);
        this.kind = kind;
        this.name = place.name;
        this.limits = place.limits;
        this.key = place.key;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public RFuture<Void> lockAsync() {
        return lockAsync(currentThread());
    }

    @Override
    public RFuture<Void> lockAsync(long threadId) {
        return lockAsync(Times.RENEWED, threadId);
    }

    @Override
    public RFuture<Void> lockAsync(long leaseTime, TimeUnit unit) {
        return lockAsync(leaseTime, unit, currentThread());
    }

    @Override
    public RFuture<Void> lockAsync(long leaseTime, TimeUnit unit, long threadId) {
        return lockAsync(Times.toLease(leaseTime, unit), threadId);
    }

    private RFuture<Void> lockAsync(long lease, long threadId) {
        return submit(acquire(threadId, Times.FOR_EVER, lease), threadId, answer -> null);
    }

    @Override
    public RFuture<Boolean> tryLockAsync() {
        return tryLockAsync(currentThread());
    }

    @Override
    public RFuture<Boolean> tryLockAsync(long threadId) {
        return tryLockAsync(Times.ONCE, Times.RENEWED, threadId);
    }

    @Override
    public RFuture<Boolean> tryLockAsync(long waitTime, TimeUnit unit) {
        return tryLockAsync(Times.toWait(waitTime, unit), Times.RENEWED, currentThread());
    }

    @Override
    public RFuture<Boolean> tryLockAsync(long waitTime, long leaseTime, TimeUnit unit) {
        return tryLockAsync(waitTime, leaseTime, unit, currentThread());
    }

    @Override
    public RFuture<Boolean> tryLockAsync(long waitTime, long leaseTime, TimeUnit unit, long threadId) {
        return tryLockAsync(Times.toWait(waitTime, unit), Times.toLease(leaseTime, unit), threadId);
    }

    private RFuture<Boolean> tryLockAsync(long wait, long lease, long threadId) {
        return submit(acquire(threadId, wait, lease), threadId, Answer::done);
    }

    @Override
    public RFuture<Void> unlockAsync() {
        return unlockAsync(currentThread());
    }

    @Override
    public RFuture<Void> unlockAsync(long threadId) {
        return submit(release(threadId), threadId, answer -> null);
    }

    @Override
    public RFuture<Boolean> forceUnlockAsync() {
        return submit(forceRelease(), currentThread(), RedissonBaseLock::tookAway);
    }

    @Override
    public RFuture<Integer> getHoldCountAsync() {
        long threadId = currentThread();
        return submit(inspect(threadId), threadId, RedissonBaseLock::holds);
    }

    @Override
    public RFuture<Boolean> isHeldByThreadAsync(long threadId) {
        return submit(inspect(threadId), threadId, answer -> holds(answer) > 0);
    }

    @Override
    public RFuture<Boolean> isLockedAsync() {
        long threadId = currentThread();
        return submit(inspect(threadId), threadId, RedissonBaseLock::isTaken);
    }

    @Override
    public RFuture<Long> remainTimeToLiveAsync() {
        long threadId = currentThread();
        return submit(inspect(threadId), threadId, Answer::number);
    }

    @Override
    public KnownHold holdOf(long threadId) {
        Core core = core();
        Answer found = core.look(kind, key, threadId, 0);
        if (found.status() != Answer.LOST) {
            checked(found, threadId);
        }
        if (found.ticket() != 0) {
            return core.hold(kind, key, threadId, found, name);
        }
        KnownHold former = formerHoldOf(threadId);
        if (former == null) {
            throw Failures.notHeld(name, core.id(), threadId);
        }
        return former;
    }

    @Override
    public void giveBack(KnownHold hold) {
        givenBack(hold, hold.client().run(releaseOf(hold)));
    }

    @Override
    public CompletableFuture<Void> giveBackAsync(KnownHold hold) {
        return RedissonFuture.<Void>submit(hold.client(), releaseOf(hold), answer -> {
            givenBack(hold, answer);
            return null;
        }).toCompletableFuture();
    }

    private Request releaseOf(KnownHold hold) {
        return limits.on(Request.release(kind, key, hold.owner(), hold.number()));
    }

    private void givenBack(KnownHold hold, Answer answer) {
        // The client was closed or has forgotten the loss since, or another release was told of it.
        boolean isUnknown = answer.status() == Answer.NOT_HELD || answer.status() == Answer.CLOSED;
        Answer end = isUnknown && hold.now().status() == Answer.LOST ? hold.now() : answer;
        told(hold);
        checked(end, hold.client(), hold.owner());
    }

    @Override
    public <V> CompletableFuture<V> takeAsync(long wait, long lease, Function<KnownHold, V> view) {
        long owner = Owners.next();
        Request acquire = acquire(owner, Times.toWait(wait, TimeUnit.MILLISECONDS), Times.toLease(lease, TimeUnit.MILLISECONDS));
        return submit(acquire, owner, answer -> view.apply(answer.done() ? holdOf(owner) : null)).toCompletableFuture();
    }

    @Override
    public Runnable undoing(long threadId) {
        Request release = release(threadId);
        return () -> core().send(release);
    }

    @Override
    public int addListener(ObjectListener listener) {
        return events.add(listener);
    }

    @Override
    public RFuture<Integer> addListenerAsync(ObjectListener listener) {
        return events.addAsync(listener);
    }

    @Override
    public void removeListener(int listenerId) {
        events.remove(listenerId);
    }

    @Override
    public RFuture<Void> removeListenerAsync(int listenerId) {
        events.remove(listenerId);
        return RedissonFuture.completed();
    }

    Core core() {
        return core;
    }

    /** The latest hold of {@code threadId} that ended with a client which {@link #core} no longer is. Null: there is none. */
    KnownHold formerHoldOf(long threadId) {
        return null;
    }

    /** Notes that the caller is told now how this hold has ended. */
    void told(KnownHold hold) {}

    static long currentThread() {
        return Thread.currentThread().getId();
    }

    Request acquire(long threadId, long wait, long lease) {
        return limits.on(Request.acquire(kind, key, threadId, wait, lease));
    }

    Request release(long threadId) {
        return limits.on(Request.release(kind, key, threadId));
    }

    Request forceRelease() {
        return limits.on(Request.forceRelease(kind, key));
    }

    Request inspect(long threadId) {
        return limits.on(Request.inspect(kind, key, threadId));
    }

    static boolean tookAway(Answer answer) {
        return answer.number() == 1;
    }

    static int holds(Answer answer) {
        return (int) answer.item(0);
    }

    static boolean isTaken(Answer answer) {
        return answer.number() != FREE;
    }

    /** The answer, unless it is an error; that is thrown. */
    Answer checked(Answer answer, long threadId) {
        return answer.failed() ? checked(answer, core(), threadId) : answer;
    }

    /** As {@link #checked(Answer, long)}, of the client that was asked. */
    Answer checked(Answer answer, Core asked, long threadId) {
        if (answer.failed()) {
            throw Failures.of(answer, new String(key, StandardCharsets.UTF_8), asked.id(), threadId);
        }
        return answer;
    }

    <V> RFuture<V> submit(Request request, long threadId, Function<Answer, V> decode) {
        return RedissonFuture.submit(core(), request, answer -> decode.apply(checked(answer, threadId)));
    }
}

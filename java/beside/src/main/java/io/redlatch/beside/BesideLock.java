package io.redlatch.beside;

import io.redlatch.redisson.Extending;
import io.redlatch.redisson.api.RLock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.redisson.RedissonBaseLock;
import org.redisson.api.ObjectListener;
import org.redisson.api.RFuture;
import org.redisson.api.RObject;
import org.redisson.command.CommandAsyncExecutor;
import org.redisson.misc.CompletableFutureWrapper;

/**
 * A lock of ours behind Redisson's types. It is a {@code RedissonBaseLock}, for Redisson's multi locks take it for one to set the lease. Redisson's
 * client does to the key whatever that class does beyond a lock.
 */
class BesideLock extends RedissonBaseLock implements org.redisson.api.RLock {
    final RLock ours;
    private final Exchange exchange;
    private final org.redisson.api.RLock face;
    /** The owner of the latest hold that was acquired for one by its number: a multi lock sets the lease on any thread. */
    private volatile long owner;

    /**
     * @param executor that of Redisson's client
     * @param face {@code ours} behind the interface, and behind {@code RObject}
     */
    BesideLock(CommandAsyncExecutor executor, Exchange exchange, RLock ours, org.redisson.api.RLock face) {
        super(executor, ours.getName());
        this.exchange = exchange;
        this.ours = ours;
        this.face = face;
    }

    @Override
    public String getName() {
        return face.getName();
    }

    @Override
    public void lock() {
        face.lock();
    }

    @Override
    public void lock(long leaseTime, TimeUnit unit) {
        face.lock(leaseTime, unit);
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        face.lockInterruptibly();
    }

    @Override
    public void lockInterruptibly(long leaseTime, TimeUnit unit) throws InterruptedException {
        face.lockInterruptibly(leaseTime, unit);
    }

    @Override
    public boolean tryLock() {
        return face.tryLock();
    }

    @Override
    public boolean tryLock(long waitTime, TimeUnit unit) throws InterruptedException {
        return face.tryLock(waitTime, unit);
    }

    @Override
    public boolean tryLock(long waitTime, long leaseTime, TimeUnit unit) throws InterruptedException {
        return face.tryLock(waitTime, leaseTime, unit);
    }

    @Override
    public void unlock() {
        face.unlock();
    }

    @Override
    public boolean forceUnlock() {
        return face.forceUnlock();
    }

    @Override
    public boolean isLocked() {
        return face.isLocked();
    }

    @Override
    public boolean isHeldByThread(long threadId) {
        return face.isHeldByThread(threadId);
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return face.isHeldByCurrentThread();
    }

    @Override
    public int getHoldCount() {
        return face.getHoldCount();
    }

    @Override
    public long remainTimeToLive() {
        return face.remainTimeToLive();
    }

    @Override
    public Condition newCondition() {
        return face.newCondition();
    }

    @Override
    public RFuture<Void> lockAsync() {
        return face.lockAsync();
    }

    @Override
    public RFuture<Void> lockAsync(long threadId) {
        return face.lockAsync(threadId);
    }

    @Override
    public RFuture<Void> lockAsync(long leaseTime, TimeUnit unit) {
        return face.lockAsync(leaseTime, unit);
    }

    @Override
    public RFuture<Void> lockAsync(long leaseTime, TimeUnit unit, long threadId) {
        return face.lockAsync(leaseTime, unit, threadId);
    }

    @Override
    public RFuture<Boolean> tryLockAsync() {
        return face.tryLockAsync();
    }

    @Override
    public RFuture<Boolean> tryLockAsync(long threadId) {
        return face.tryLockAsync(threadId);
    }

    @Override
    public RFuture<Boolean> tryLockAsync(long waitTime, TimeUnit unit) {
        return face.tryLockAsync(waitTime, unit);
    }

    @Override
    public RFuture<Boolean> tryLockAsync(long waitTime, long leaseTime, TimeUnit unit) {
        return face.tryLockAsync(waitTime, leaseTime, unit);
    }

    @Override
    public RFuture<Boolean> tryLockAsync(long waitTime, long leaseTime, TimeUnit unit, long threadId) {
        return exchange.lent(() -> ours.tryLockAsync(waitTime, leaseTime, unit, threadId), isTaken -> {
            if (isTaken) { // noted before the caller hears of it, which may set the lease at once
                owner = threadId;
            }
        });
    }

    @Override
    public RFuture<Void> unlockAsync() {
        return face.unlockAsync();
    }

    @Override
    public RFuture<Void> unlockAsync(long threadId) {
        return face.unlockAsync(threadId);
    }

    @Override
    public RFuture<Boolean> forceUnlockAsync() {
        return face.forceUnlockAsync();
    }

    @Override
    public RFuture<Integer> getHoldCountAsync() {
        return face.getHoldCountAsync();
    }

    @Override
    public RFuture<Boolean> isHeldByThreadAsync(long threadId) {
        return face.isHeldByThreadAsync(threadId);
    }

    @Override
    public RFuture<Boolean> isLockedAsync() {
        return face.isLockedAsync();
    }

    @Override
    public RFuture<Long> remainTimeToLiveAsync() {
        return face.remainTimeToLiveAsync();
    }

    @Override
    public int addListener(ObjectListener listener) {
        return ((RObject) face).addListener(listener);
    }

    @Override
    public RFuture<Integer> addListenerAsync(ObjectListener listener) {
        return ((RObject) face).addListenerAsync(listener);
    }

    @Override
    public void removeListener(int listenerId) {
        ((RObject) face).removeListener(listenerId);
    }

    @Override
    public RFuture<Void> removeListenerAsync(int listenerId) {
        return ((RObject) face).removeListenerAsync(listenerId);
    }

    /** Sets the lease of the hold, of the thread or of the latest owner: a hold must know when it ends. Without a hold it sets that of the key. */
    @Override
    public RFuture<Boolean> expireAsync(long timeToLive, TimeUnit unit) {
        return Extending.lease(ours, owner, unit.toMillis(timeToLive))
                .<RFuture<Boolean>>map(CompletableFutureWrapper<Boolean>::new)
                .orElseGet(() -> super.expireAsync(timeToLive, unit));
    }

    @Override
    public RFuture<Boolean> expireAsync(Duration duration) {
        return expireAsync(duration.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** The last step of Redisson's own releases, which are ours here. This is its signature in 3.x, the other one that in 4.x. */
    @Override
    protected RFuture<Boolean> unlockInnerAsync(long threadId, String requestId, int timeout) {
        return unlocked(threadId);
    }

    protected RFuture<Boolean> unlockInnerAsync(long threadId, String requestId, long timeout) {
        return unlocked(threadId);
    }

    private RFuture<Boolean> unlocked(long threadId) {
        return new CompletableFutureWrapper<>(unlockAsync(threadId).thenApply(nothing -> true));
    }

    @Override
    public boolean equals(Object other) {
        return ours.equals(Exchange.behind(other));
    }

    @Override
    public int hashCode() {
        return ours.hashCode();
    }

    @Override
    public String toString() {
        return ours.toString();
    }
}

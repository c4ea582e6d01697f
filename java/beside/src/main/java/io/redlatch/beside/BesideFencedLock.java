package io.redlatch.beside;

import io.redlatch.redisson.api.RLock;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RFencedLock;
import org.redisson.api.RFuture;
import org.redisson.command.CommandAsyncExecutor;

/** A fenced lock of ours behind Redisson's types. */
class BesideFencedLock extends BesideLock implements RFencedLock {
    private final RFencedLock face;

    BesideFencedLock(CommandAsyncExecutor executor, Exchange exchange, RLock ours, RFencedLock face) {
        super(executor, exchange, ours, face);
        this.face = face;
    }

    @Override
    public Long getToken() {
        return face.getToken();
    }

    @Override
    public RFuture<Long> getTokenAsync() {
        return face.getTokenAsync();
    }

    @Override
    public Long lockAndGetToken() {
        return face.lockAndGetToken();
    }

    @Override
    public RFuture<Long> lockAndGetTokenAsync() {
        return face.lockAndGetTokenAsync();
    }

    @Override
    public Long lockAndGetToken(long leaseTime, TimeUnit unit) {
        return face.lockAndGetToken(leaseTime, unit);
    }

    @Override
    public RFuture<Long> lockAndGetTokenAsync(long leaseTime, TimeUnit unit) {
        return face.lockAndGetTokenAsync(leaseTime, unit);
    }

    @Override
    public Long tryLockAndGetToken() {
        return face.tryLockAndGetToken();
    }

    @Override
    public RFuture<Long> tryLockAndGetTokenAsync() {
        return face.tryLockAndGetTokenAsync();
    }

    @Override
    public Long tryLockAndGetToken(long waitTime, TimeUnit unit) {
        return face.tryLockAndGetToken(waitTime, unit);
    }

    @Override
    public RFuture<Long> tryLockAndGetTokenAsync(long waitTime, TimeUnit unit) {
        return face.tryLockAndGetTokenAsync(waitTime, unit);
    }

    @Override
    public Long tryLockAndGetToken(long waitTime, long leaseTime, TimeUnit unit) {
        return face.tryLockAndGetToken(waitTime, leaseTime, unit);
    }

    @Override
    public RFuture<Long> tryLockAndGetTokenAsync(long waitTime, long leaseTime, TimeUnit unit) {
        return face.tryLockAndGetTokenAsync(waitTime, leaseTime, unit);
    }
}

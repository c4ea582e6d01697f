package org.redisson;

import io.redlatch.internal.Request;
import java.util.Objects;
import org.redisson.api.LockOptions;

/** The reentrant lock whose waiters ask now and then. */
public final class RedissonSpinLock extends RedissonLock {
    /** So many delays are asked of a policy; the last is used from there on. */
    private static final int DELAYS = 32;

    private final LockOptions.BackOff backOff;

    RedissonSpinLock(Place place, LockOptions.BackOff backOff) {
        super(place, "spin");
        this.backOff = Objects.requireNonNull(backOff, "backOff is null; give one, as LockOptions.defaults()");
    }

    @Override
    Request acquire(long threadId, long wait, long lease) {
        LockOptions.BackOffPolicy policy = backOff.create();
        long[] delays = new long[DELAYS];
        for (int i = 0; i < DELAYS; i++) {
            delays[i] = Math.max(1, policy.getNextSleepPeriod());
        }
        return super.acquire(threadId, wait, lease).with(delays);
    }
}

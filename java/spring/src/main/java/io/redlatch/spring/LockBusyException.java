package io.redlatch.spring;

import java.time.Duration;

/** The lock of a method with {@link DistributedLock} was taken by another owner for the whole wait. The method was not called. */
public final class LockBusyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String lock;
    private final Duration waited;

    /** The library throws it. A test of an application may make one to see what the application does about it. */
    public LockBusyException(String lock, Duration waited) {
        super("the lock `" + lock + "` is taken, "
                + (waited.isZero() ? "and it was tried once, without a wait" : "and the wait of " + Durations.shown(waited) + " was in vain")
                + "; call again later, give @DistributedLock a longer waitTime, or pass the call over by onBusy = SKIP");
        this.lock = lock;
        this.waited = waited;
    }

    /** The name of the lock. */
    public String lock() {
        return lock;
    }

    /** The wait of the annotation. */
    public Duration waited() {
        return waited;
    }
}

package io.redlatch.spring;

/**
 * The thread was interrupted while it waited for the lock of a method with {@link DistributedLock}. It holds nothing, the method was not called, and
 * the thread's interrupt flag is set.
 */
public final class LockInterruptedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String lock;

    /** The library throws it. A test of an application may make one to see what the application does about it. */
    public LockInterruptedException(String lock, InterruptedException cause) {
        super("the thread was interrupted while it waited for the lock `" + lock + "`; it does not hold it, and the method was not called", cause);
        this.lock = lock;
    }

    /** The name of the lock. */
    public String lock() {
        return lock;
    }
}

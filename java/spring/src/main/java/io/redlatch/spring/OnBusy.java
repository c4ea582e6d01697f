package io.redlatch.spring;

/** The end of a call of a method with {@link DistributedLock} if the lock is still taken when its wait is over. */
public enum OnBusy {
    /** It throws a {@link LockBusyException}; in a {@code CompletionStage} or {@code Mono} that is its error. */
    FAIL,

    /**
     * The method is passed over. The call returns null; an empty {@code Optional} or {@code Mono}, or a stage of null, where the method returns such.
     * Methods that return a primitive value cannot be passed over.
     */
    SKIP
}

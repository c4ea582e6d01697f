package io.redlatch.internal;

import io.redlatch.LockLostException;

/** The lock of a job, under {@link io.redlatch.Job}. Failures are the exceptions of the {@code org.redisson} API. */
public interface JobSource {
    /**
     * Takes the lock, and has it renewed. Interrupts do not end that.
     *
     * @param atMost for how long the server keeps it without a renewal, in ms
     * @param atLeast for how long it keeps it from now on, in ms, even if the run ends before
     * @return null: another run has it
     */
    Run begin(long atMost, long atLeast);

    /** A run that has the lock. */
    interface Run {
        /** Its hold. */
        KnownHold hold();

        /**
         * Lets the lock go. Interrupts do not end that.
         *
         * @return how the lock was lost; null: it was not
         */
        LockLostException end();
    }
}

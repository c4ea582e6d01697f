package io.redlatch;

/** How a run of a {@link Job} ends. */
public enum JobOutcome {
    /** The work ran, and this node had the lock until its end. */
    RAN,
    /** Another run has the job, or had it less than {@link Job#atLeast} ago. The work was not begun. */
    SKIPPED,
    /** The work ran, and this node lost the lock in the middle: another one may have begun the job. */
    LOST
}

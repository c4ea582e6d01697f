package io.redlatch;

/** How a run of a {@link Job} ends. */
public enum JobOutcome {
    /** The work ran, and this node had the lock until its end. */
    RAN,
    /** Another run has the job, or had it less than {@link Job#atLeast} ago. The work was not begun. */
    SKIPPED,
    /** This node lost the lock before the work had ended, or in rare cases before it had begun: another one may have begun the job. */
    LOST
}

package io.redlatch;

import java.util.Optional;

/**
 * The end of one run of a {@link Job}.
 *
 * @param <T> the value of the work
 */
public final class JobRun<T> {
    private final JobOutcome outcome;
    private final T value;
    private final LockLostException loss;

    JobRun(JobOutcome outcome, T value, LockLostException loss) {
        this.outcome = outcome;
        this.value = value;
        this.loss = loss;
    }

    /** How it ended. */
    public JobOutcome outcome() {
        return outcome;
    }

    /** The value of the work, after a loss too; empty if it was skipped, or gave null. */
    public Optional<T> value() {
        return Optional.ofNullable(value);
    }

    /** The loss, with its reason; empty unless the outcome is {@link JobOutcome#LOST}. */
    public Optional<LockLostException> loss() {
        return Optional.ofNullable(loss);
    }

    @Override
    public String toString() {
        return "JobRun[" + outcome + (loss == null ? "" : ": " + loss.getMessage()) + "]";
    }
}

package org.redisson.client;

/** As {@link FailedCommandsDetector}, for commands that were not answered in time. Without meaning here. */
public class FailedCommandsTimeoutDetector extends FailedCommandsDetector {
    /** Neither is set. */
    public FailedCommandsTimeoutDetector() {}

    /**
     * @param checkInterval the time in which failures are counted, in ms
     * @param failedCommandsLimit the number of failures
     */
    public FailedCommandsTimeoutDetector(long checkInterval, int failedCommandsLimit) {
        super(checkInterval, failedCommandsLimit);
    }
}

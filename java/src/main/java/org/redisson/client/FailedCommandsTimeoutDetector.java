package org.redisson.client;

/** As {@link FailedCommandsDetector}, for commands that were not answered in time. Without meaning here. */
public class FailedCommandsTimeoutDetector extends FailedCommandsDetector {
    /** Neither is set. */
    public FailedCommandsTimeoutDetector() {}

    /**
     * @param checkInterval in what time, in ms
     * @param failedCommandsLimit how many
     */
    public FailedCommandsTimeoutDetector(long checkInterval, int failedCommandsLimit) {
        super(checkInterval, failedCommandsLimit);
    }
}

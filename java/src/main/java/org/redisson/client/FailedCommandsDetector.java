package org.redisson.client;

/** Names when a replica has failed: when many of its commands have, in some time. Without meaning here. */
public class FailedCommandsDetector implements FailedNodeDetector {
    /** The time in which failures are counted, in ms. */
    protected long checkInterval;
    /** The number of failures. */
    protected long failedCommandsLimit;

    /** Neither is set. */
    public FailedCommandsDetector() {}

    /**
     * @param checkInterval the time in which failures are counted, in ms
     * @param failedCommandsLimit the number of failures
     */
    public FailedCommandsDetector(long checkInterval, int failedCommandsLimit) {
        this.checkInterval = checkInterval;
        this.failedCommandsLimit = failedCommandsLimit;
    }

    /** The time in which failures are counted, in ms. */
    public void setCheckInterval(long checkInterval) {
        this.checkInterval = checkInterval;
    }

    /** The number of failures. */
    public void setFailedCommandsLimit(long failedCommandsLimit) {
        this.failedCommandsLimit = failedCommandsLimit;
    }

    @Override
    public void onConnectSuccessful() {}

    @Override
    public void onConnectFailed() {}

    @Override
    public void onPingSuccessful() {}

    @Override
    public void onPingFailed() {}

    @Override
    public void onCommandSuccessful() {}

    @Override
    public void onCommandFailed(Throwable cause) {}

    /** False: this library asks nothing of replicas. */
    @Override
    public boolean isNodeFailed() {
        return false;
    }
}

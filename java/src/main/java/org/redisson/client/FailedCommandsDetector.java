package org.redisson.client;

/** Names when a replica has failed: when many of its commands have, in some time. Without meaning here. */
public class FailedCommandsDetector implements FailedNodeDetector {
    /** In what time, in ms. */
    protected long checkInterval;
    /** How many. */
    protected long failedCommandsLimit;

    /** Neither is set. */
    public FailedCommandsDetector() {}

    /**
     * @param checkInterval in what time, in ms
     * @param failedCommandsLimit how many
     */
    public FailedCommandsDetector(long checkInterval, int failedCommandsLimit) {
        this.checkInterval = checkInterval;
        this.failedCommandsLimit = failedCommandsLimit;
    }

    /** In what time, in ms. */
    public void setCheckInterval(long checkInterval) {
        this.checkInterval = checkInterval;
    }

    /** How many. */
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

    /** False: nothing is asked of replicas here. */
    @Override
    public boolean isNodeFailed() {
        return false;
    }
}

package org.redisson.client;

/** Names when a replica has failed: when no connection to it could be made for some time. Without meaning here. */
public class FailedConnectionDetector implements FailedNodeDetector {
    private long checkInterval;

    /** After three minutes. */
    public FailedConnectionDetector() {
        this(180000);
    }

    /** @param checkInterval for how long, in ms */
    public FailedConnectionDetector(long checkInterval) {
        this.checkInterval = checkInterval;
    }

    /** For how long, in ms. */
    public void setCheckInterval(long checkInterval) {
        this.checkInterval = checkInterval;
    }

    /** For how long, in ms. */
    public long getCheckInterval() {
        return checkInterval;
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

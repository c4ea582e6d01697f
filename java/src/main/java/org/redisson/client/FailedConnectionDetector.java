package org.redisson.client;

/** Names when a replica has failed: when no connection to it could be made for some time. Without meaning here. */
public class FailedConnectionDetector implements FailedNodeDetector {
    private long checkInterval;

    /** After three minutes. */
    public FailedConnectionDetector() {
        this(180000);
    }

    /** @param checkInterval how long a replica may fail, in ms */
    public FailedConnectionDetector(long checkInterval) {
        this.checkInterval = checkInterval;
    }

    /** How long a replica may fail, in ms. */
    public void setCheckInterval(long checkInterval) {
        this.checkInterval = checkInterval;
    }

    /** How long a replica may fail, in ms. */
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

    /** False: this library asks nothing of replicas. */
    @Override
    public boolean isNodeFailed() {
        return false;
    }
}

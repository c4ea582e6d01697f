package org.redisson.client;

/** Judges a replica by its calls in Redisson; this library never calls it. */
public interface FailedNodeDetector {
    /** A connection was made. */
    void onConnectSuccessful();

    /** A connection could not be made. */
    void onConnectFailed();

    /** A connection could not be made, and why. */
    default void onConnectFailed(Throwable cause) {
        onConnectFailed();
    }

    /** A ping was answered. */
    void onPingSuccessful();

    /** A ping was not answered. */
    void onPingFailed();

    /** A ping was not answered, and why. */
    default void onPingFailed(Throwable cause) {
        onPingFailed();
    }

    /** A command was answered. */
    void onCommandSuccessful();

    /** A command was not answered, and why. */
    void onCommandFailed(Throwable cause);

    /** The judgement. */
    boolean isNodeFailed();

    /** A copy with the same settings. */
    default FailedNodeDetector copy() {
        return this;
    }
}

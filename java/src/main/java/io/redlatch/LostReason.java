package io.redlatch;

/** Why a hold ended without being released. As a text it is the word that every language has for it. */
public enum LostReason {
    // In the order of the core's numbers, from 1; a test of the native crate compares them.
    /** The lease that was asked for ended before the release, on this side's clock. */
    EXPIRED("expired"),
    /** Another owner has the lock. */
    TAKEN_OVER("taken over"),
    /** The key was deleted, and no other owner has the lock. */
    DELETED("deleted"),
    /** The client was shut down while it was held. */
    CLOSED("closed"),
    /** The server came back without the key. */
    SERVER_LOST_DATA("server lost its data"),
    /** No renewal was answered while the lease lasted. */
    PARTITIONED("partitioned"),
    /** The process or its machine stood still, so that no renewal was sent in time. */
    PAUSED("process was paused"),
    /** The session of a server of SQL that held it is over: the connection broke, an administrator or the server ended it. */
    SESSION_ENDED("session ended");

    private final String word;

    LostReason(String word) {
        this.word = word;
    }

    @Override
    public String toString() {
        return word;
    }
}

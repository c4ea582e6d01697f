package io.redlatch.internal;

/** The election of one leader, under {@link io.redlatch.Leader}. Failures are the exceptions of the {@code org.redisson} API. */
public interface LeaderSource {
    /** The leader's name, as the application gave it. */
    String name();

    /**
     * Waits until this process leads. Each call is a candidate of its own.
     *
     * @param value in UTF-8
     * @param wait in ms; below 0 for ever, 0 to try once
     * @return null: another process leads
     * @throws InterruptedException if the thread is interrupted before or while it waits; it does not lead then
     */
    KnownHold lead(byte[] value, long wait) throws InterruptedException;

    /** Gives the hold of a term back. */
    void resign(KnownHold term);

    /** The answer's number is −2 if no process leads, its second item is the leader's token, its texts are the holder and the value. */
    Answer current();

    /**
     * Waits until another process leads than {@code seen} says, or none.
     *
     * @param seen the first text of the last answer; empty for the first question
     * @return its number is the leader's token, its texts are that for the next question and the value
     */
    Answer next(byte[] seen) throws InterruptedException;
}

package org.redisson.api;

/** What is a key on the server. */
public interface RObject extends RObjectAsync {
    /** The name that it was asked for by. */
    String getName();

    /** Deletes it. True if it was there. */
    boolean delete();

    /** As {@link #delete()}. */
    boolean unlink();

    /** Whether it is there. */
    boolean isExists();

    /** Notes an access to it. True if it is there. */
    boolean touch();

    /**
     * Has the listener called when its key expires ({@link ExpiredObjectListener}) or is deleted ({@link DeletedObjectListener}).
     *
     * @return the number for {@link #removeListener}
     * @throws UnsupportedOperationException if the server is not set up to tell of that; the message says how to
     */
    int addListener(ObjectListener listener);

    /** Ends a listener. */
    void removeListener(int listenerId);
}

package org.redisson.api;

/** An object that tells listeners what becomes of it. */
public interface RObservable {
    /**
     * Adds a listener, once the server has confirmed that its events will come. They are the server's keyspace events and need
     * {@code notify-keyspace-events} with {@code K} and, for expiry, {@code x}, for deletion {@code g}. Events while the connection is
     * lost are not told. A listener may block; it is called for one event at a time, in their order.
     *
     * @return the number for {@link #removeListener}
     * @throws IllegalArgumentException for a listener that is neither {@link ExpiredObjectListener} nor {@link DeletedObjectListener}
     */
    int addListener(ObjectListener listener);

    /** Removes a listener; a number that is none is passed over. A call of it that is under way goes on. */
    void removeListener(int listenerId);
}

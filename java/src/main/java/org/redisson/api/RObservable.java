package org.redisson.api;

/** An object that tells listeners of its end. */
public interface RObservable {
    /**
     * Adds a listener, once the server has confirmed that its events will come. They are the server's keyspace events: its setting
     * {@code notify-keyspace-events} must have {@code x} for expiry, {@code g} for deletion, and {@code K} or {@code E}; with {@code K} only
     * the events of this object are sent. Events while the connection is lost are not told. A listener may block: it is called for one event
     * at a time, and for all of them. It gets the object's name on the server.
     *
     * @return the number for {@link #removeListener}
     * @throws IllegalArgumentException for a listener that is neither {@link ExpiredObjectListener} nor {@link DeletedObjectListener}
     * @throws UnsupportedOperationException if the server's settings say that it tells of no such events; settings that it hides are taken for right
     */
    int addListener(ObjectListener listener);

    /** Removes a listener; an unknown number is passed over. A call of the listener that is under way goes on. */
    void removeListener(int listenerId);
}

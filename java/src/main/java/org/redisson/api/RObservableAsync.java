package org.redisson.api;

/** The asynchronous half of {@link RObservable}. */
public interface RObservableAsync {
    /** As {@link RObservable#addListener}; a listener of another type fails the future. */
    RFuture<Integer> addListenerAsync(ObjectListener listener);

    /** As {@link RObservable#removeListener}. */
    RFuture<Void> removeListenerAsync(int listenerId);
}

package org.redisson.api;

/** The asynchronous half of {@link RObject}. */
public interface RObjectAsync {
    /** As {@link RObject#delete()}. */
    RFuture<Boolean> deleteAsync();

    /** As {@link RObject#unlink()}. */
    RFuture<Boolean> unlinkAsync();

    /** As {@link RObject#isExists()}. */
    RFuture<Boolean> isExistsAsync();

    /** As {@link RObject#touch()}. */
    RFuture<Boolean> touchAsync();

    /** As {@link RObject#addListener}. */
    RFuture<Integer> addListenerAsync(ObjectListener listener);

    /** As {@link RObject#removeListener}. */
    RFuture<Void> removeListenerAsync(int listenerId);
}

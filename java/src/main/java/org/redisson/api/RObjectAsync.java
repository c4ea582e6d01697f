package org.redisson.api;

import java.util.concurrent.TimeUnit;

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

    /** As {@link RObject#rename(String)}. */
    RFuture<Void> renameAsync(String newName);

    /** As {@link RObject#renamenx(String)}. */
    RFuture<Boolean> renamenxAsync(String newName);

    /** As {@link RObject#move(int)}. */
    RFuture<Boolean> moveAsync(int database);

    /** As {@link RObject#copy(String)}. */
    RFuture<Boolean> copyAsync(String destination);

    /** As {@link RObject#copy(String, int)}. */
    RFuture<Boolean> copyAsync(String destination, int database);

    /** As {@link RObject#copyAndReplace(String)}. */
    RFuture<Boolean> copyAndReplaceAsync(String destination);

    /** As {@link RObject#copyAndReplace(String, int)}. */
    RFuture<Boolean> copyAndReplaceAsync(String destination, int database);

    /** As {@link RObject#copy(String, int, int, long)}. */
    RFuture<Void> copyAsync(String host, int port, int database, long timeout);

    /** As {@link RObject#migrate(String, int, int, long)}. */
    RFuture<Void> migrateAsync(String host, int port, int database, long timeout);

    /** As {@link RObject#dump()}. */
    RFuture<byte[]> dumpAsync();

    /** As {@link RObject#restore(byte[])}. */
    RFuture<Void> restoreAsync(byte[] state);

    /** As {@link RObject#restore(byte[], long, TimeUnit)}. */
    RFuture<Void> restoreAsync(byte[] state, long timeToLive, TimeUnit timeUnit);

    /** As {@link RObject#restoreAndReplace(byte[])}. */
    RFuture<Void> restoreAndReplaceAsync(byte[] state);

    /** As {@link RObject#restoreAndReplace(byte[], long, TimeUnit)}. */
    RFuture<Void> restoreAndReplaceAsync(byte[] state, long timeToLive, TimeUnit timeUnit);

    /** As {@link RObject#sizeInMemory()}. */
    RFuture<Long> sizeInMemoryAsync();

    /** As {@link RObject#getIdleTime()}. */
    RFuture<Long> getIdleTimeAsync();

    /** As {@link RObject#getReferenceCount()}. */
    RFuture<Integer> getReferenceCountAsync();

    /** As {@link RObject#getAccessFrequency()}. */
    RFuture<Integer> getAccessFrequencyAsync();

    /** As {@link RObject#getInternalEncoding()}. */
    RFuture<ObjectEncoding> getInternalEncodingAsync();

    /** As {@link RObject#addListener(ObjectListener)}. */
    RFuture<Integer> addListenerAsync(ObjectListener listener);

    /** As {@link RObject#removeListener(int)}. */
    RFuture<Void> removeListenerAsync(int listenerId);
}

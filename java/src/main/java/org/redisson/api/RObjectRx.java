package org.redisson.api;

import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Single;
import java.util.concurrent.TimeUnit;
import org.redisson.client.codec.Codec;

/** The methods of every object with one key, for RxJava: the methods of {@link RObjectAsync}, each carried out once per subscription. */
public interface RObjectRx {
    /** As {@link RObjectAsync#getIdleTimeAsync()}. */
    Single<Long> getIdleTime();

    /** As {@link RObjectAsync#getReferenceCountAsync()}. */
    Single<Integer> getReferenceCount();

    /** As {@link RObjectAsync#getAccessFrequencyAsync()}. */
    Single<Integer> getAccessFrequency();

    /** As {@link RObjectAsync#getInternalEncodingAsync()}. */
    Single<ObjectEncoding> getInternalEncoding();

    /** As {@link RObject#getName()}. */
    String getName();

    /** As {@link RObject#getCodec()}. */
    Codec getCodec();

    /** As {@link RObjectAsync#sizeInMemoryAsync()}. */
    Single<Long> sizeInMemory();

    /** As {@link RObjectAsync#restoreAsync(byte[])}. */
    Completable restore(byte[] state);

    /** As {@link RObjectAsync#restoreAsync(byte[], long, TimeUnit)}. */
    Completable restore(byte[] state, long timeToLive, TimeUnit timeUnit);

    /** As {@link RObjectAsync#restoreAndReplaceAsync(byte[])}. */
    Completable restoreAndReplace(byte[] state);

    /** As {@link RObjectAsync#restoreAndReplaceAsync(byte[], long, TimeUnit)}. */
    Completable restoreAndReplace(byte[] state, long timeToLive, TimeUnit timeUnit);

    /** As {@link RObjectAsync#dumpAsync()}. */
    Single<byte[]> dump();

    /** As {@link RObjectAsync#touchAsync()}. */
    Single<Boolean> touch();

    /** As {@link RObjectAsync#unlinkAsync()}. */
    Single<Boolean> unlink();

    /** As {@link RObjectAsync#copyAsync(String, int, int, long)}. */
    Completable copy(String host, int port, int database, long timeout);

    /** As {@link RObjectAsync#copyAsync(String)}. */
    Single<Boolean> copy(String destination);

    /** As {@link RObjectAsync#copyAsync(String, int)}. */
    Single<Boolean> copy(String destination, int database);

    /** As {@link RObjectAsync#copyAndReplaceAsync(String)}. */
    Single<Boolean> copyAndReplace(String destination);

    /** As {@link RObjectAsync#copyAndReplaceAsync(String, int)}. */
    Single<Boolean> copyAndReplace(String destination, int database);

    /** As {@link RObjectAsync#migrateAsync(String, int, int, long)}. */
    Completable migrate(String host, int port, int database, long timeout);

    /** As {@link RObjectAsync#moveAsync(int)}. */
    Single<Boolean> move(int database);

    /** As {@link RObjectAsync#deleteAsync()}. */
    Single<Boolean> delete();

    /** As {@link RObjectAsync#renameAsync(String)}. */
    Completable rename(String newName);

    /** As {@link RObjectAsync#renamenxAsync(String)}. */
    Single<Boolean> renamenx(String newName);

    /** As {@link RObjectAsync#isExistsAsync()}. */
    Single<Boolean> isExists();

    /** As {@link RObjectAsync#addListenerAsync(ObjectListener)}. */
    Single<Integer> addListener(ObjectListener listener);

    /** As {@link RObjectAsync#removeListenerAsync(int)}. */
    Completable removeListener(int listenerId);
}

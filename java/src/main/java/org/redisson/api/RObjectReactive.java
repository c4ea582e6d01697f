package org.redisson.api;

import java.util.concurrent.TimeUnit;
import org.redisson.client.codec.Codec;
import reactor.core.publisher.Mono;

/** The methods of every object with one key, for Reactor: the methods of {@link RObjectAsync}, each carried out once per subscription. */
public interface RObjectReactive {
    /** As {@link RObjectAsync#getIdleTimeAsync()}. */
    Mono<Long> getIdleTime();

    /** As {@link RObjectAsync#getReferenceCountAsync()}. */
    Mono<Integer> getReferenceCount();

    /** As {@link RObjectAsync#getAccessFrequencyAsync()}. */
    Mono<Integer> getAccessFrequency();

    /** As {@link RObjectAsync#getInternalEncodingAsync()}. */
    Mono<ObjectEncoding> getInternalEncoding();

    /** As {@link RObject#getName()}. */
    String getName();

    /** As {@link RObject#getCodec()}. */
    Codec getCodec();

    /** As {@link RObjectAsync#sizeInMemoryAsync()}. */
    Mono<Long> sizeInMemory();

    /** As {@link RObjectAsync#restoreAsync(byte[])}. */
    Mono<Void> restore(byte[] state);

    /** As {@link RObjectAsync#restoreAsync(byte[], long, TimeUnit)}. */
    Mono<Void> restore(byte[] state, long timeToLive, TimeUnit timeUnit);

    /** As {@link RObjectAsync#restoreAndReplaceAsync(byte[])}. */
    Mono<Void> restoreAndReplace(byte[] state);

    /** As {@link RObjectAsync#restoreAndReplaceAsync(byte[], long, TimeUnit)}. */
    Mono<Void> restoreAndReplace(byte[] state, long timeToLive, TimeUnit timeUnit);

    /** As {@link RObjectAsync#dumpAsync()}. */
    Mono<byte[]> dump();

    /** As {@link RObjectAsync#touchAsync()}. */
    Mono<Boolean> touch();

    /** As {@link RObjectAsync#unlinkAsync()}. */
    Mono<Boolean> unlink();

    /** As {@link RObjectAsync#copyAsync(String, int, int, long)}. */
    Mono<Void> copy(String host, int port, int database, long timeout);

    /** As {@link RObjectAsync#copyAsync(String)}. */
    Mono<Boolean> copy(String destination);

    /** As {@link RObjectAsync#copyAsync(String, int)}. */
    Mono<Boolean> copy(String destination, int database);

    /** As {@link RObjectAsync#copyAndReplaceAsync(String)}. */
    Mono<Boolean> copyAndReplace(String destination);

    /** As {@link RObjectAsync#copyAndReplaceAsync(String, int)}. */
    Mono<Boolean> copyAndReplace(String destination, int database);

    /** As {@link RObjectAsync#migrateAsync(String, int, int, long)}. */
    Mono<Void> migrate(String host, int port, int database, long timeout);

    /** As {@link RObjectAsync#moveAsync(int)}. */
    Mono<Boolean> move(int database);

    /** As {@link RObjectAsync#deleteAsync()}. */
    Mono<Boolean> delete();

    /** As {@link RObjectAsync#renameAsync(String)}. */
    Mono<Void> rename(String newName);

    /** As {@link RObjectAsync#renamenxAsync(String)}. */
    Mono<Boolean> renamenx(String newName);

    /** As {@link RObjectAsync#isExistsAsync()}. */
    Mono<Boolean> isExists();

    /** As {@link RObjectAsync#addListenerAsync(ObjectListener)}. */
    Mono<Integer> addListener(ObjectListener listener);

    /** As {@link RObjectAsync#removeListenerAsync(int)}. */
    Mono<Void> removeListener(int listenerId);
}

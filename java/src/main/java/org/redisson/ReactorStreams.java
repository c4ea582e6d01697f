package org.redisson;

import io.redlatch.internal.AnswerPublisher;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.redisson.api.AsyncIterator;
import org.redisson.api.RLockReactive;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Reactor's streams. */
final class ReactorStreams implements StreamProxy.Streams {
    /** @throws NoClassDefFoundError if Reactor is not on the class path */
    ReactorStreams() {
        Objects.requireNonNull(Mono.class);
    }

    @Override
    public boolean have(Class<?> type) {
        return type == Mono.class || type == Flux.class;
    }

    @Override
    public Object of(Class<?> type, Callable<?> call) {
        return type == Flux.class ? all(call) : Mono.fromDirect(new AnswerPublisher<>(() -> (CompletionStage<?>) call.call()));
    }

    private static Flux<Object> all(Callable<?> call) {
        return Flux.defer(() -> {
            AsyncIterator<?> elements = iterator(call);
            AtomicBoolean isLast = new AtomicBoolean();
            Mono<Object> next = Mono.<Object>fromDirect(new AnswerPublisher<>(elements::hasNext)).flatMap(isThere -> {
                isLast.set(!(boolean) isThere);
                return isLast.get() ? Mono.empty() : Mono.fromDirect(new AnswerPublisher<>(elements::next));
            });
            return next.repeat(() -> !isLast.get());
        });
    }

    private static AsyncIterator<?> iterator(Callable<?> call) {
        try {
            return (AsyncIterator<?>) call.call();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e); // the methods of keys declare none
        }
    }

    @Override
    public Class<?> locks() {
        return RLockReactive.class;
    }
}

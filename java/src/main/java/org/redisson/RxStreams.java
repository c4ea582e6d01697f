package org.redisson;

import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Maybe;
import io.reactivex.rxjava3.core.Single;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.redisson.api.AsyncIterator;
import org.redisson.api.RLockRx;

/** RxJava's streams. */
final class RxStreams implements StreamProxy.Streams {
    /** @throws NoClassDefFoundError if RxJava is not on the class path */
    RxStreams() {
        Objects.requireNonNull(Maybe.class);
    }

    @Override
    public boolean have(Class<?> type) {
        return type == Single.class || type == Maybe.class || type == Completable.class || type == Flowable.class;
    }

    @Override
    public Object of(Class<?> type, Callable<?> call) {
        if (type == Flowable.class) {
            return all(call);
        }
        Maybe<Object> answer = new AnswerMaybe(() -> (CompletionStage<?>) call.call());
        return type == Completable.class ? answer.ignoreElement() : type == Single.class ? answer.toSingle() : answer;
    }

    private static Flowable<Object> all(Callable<?> call) {
        return Flowable.defer(() -> {
            AsyncIterator<?> elements = (AsyncIterator<?>) call.call();
            AtomicBoolean isLast = new AtomicBoolean();
            Maybe<Object> next = new AnswerMaybe(elements::hasNext).flatMap(isThere -> {
                isLast.set(!(boolean) isThere);
                return isLast.get() ? Maybe.empty() : new AnswerMaybe(elements::next);
            });
            return next.repeatUntil(isLast::get);
        });
    }

    @Override
    public Class<?> locks() {
        return RLockRx.class;
    }
}

package org.redisson;

import io.reactivex.rxjava3.core.Maybe;
import io.reactivex.rxjava3.core.MaybeObserver;
import io.reactivex.rxjava3.disposables.Disposable;
import io.redlatch.internal.Asking;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;

/** Makes a request for each observer, and gives it the answer; nothing if that is null. */
final class AnswerMaybe extends Maybe<Object> {
    private final Callable<? extends CompletionStage<?>> call;

    /** @param call makes the request and gives its stage */
    AnswerMaybe(Callable<? extends CompletionStage<?>> call) {
        this.call = call;
    }

    @Override
    protected void subscribeActual(MaybeObserver<? super Object> observer) {
        Asked asked = new Asked(observer);
        observer.onSubscribe(asked);
        asked.ask(call);
    }

    private static final class Asked extends Asking implements Disposable {
        private final MaybeObserver<? super Object> observer;

        Asked(MaybeObserver<? super Object> observer) {
            this.observer = observer;
        }

        @Override
        public void dispose() {
            cancel();
        }

        @Override
        public boolean isDisposed() {
            return isOver();
        }

        @Override
        protected void succeeded(Object value) {
            if (value == null) {
                observer.onComplete();
            } else {
                observer.onSuccess(value);
            }
        }

        @Override
        protected void failed(Throwable error) {
            observer.onError(error);
        }
    }
}

package io.redlatch.internal;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** Makes a request for each subscription, once its subscriber wants an element, and publishes the answer; nothing but the end if that is null. */
public final class AnswerPublisher<V> implements Publisher<V> {
    private final Callable<? extends CompletionStage<?>> call;

    /** @param call makes the request and gives its stage, whose result is a {@code V} */
    public AnswerPublisher(Callable<? extends CompletionStage<?>> call) {
        this.call = call;
    }

    @Override
    public void subscribe(Subscriber<? super V> subscriber) {
        subscriber.onSubscribe(new Asked(subscriber));
    }

    private final class Asked extends Asking implements Subscription {
        private final Subscriber<? super V> subscriber;

        Asked(Subscriber<? super V> subscriber) {
            this.subscriber = subscriber;
        }

        @Override
        public void request(long elements) {
            ask(() -> {
                if (elements <= 0) {
                    throw new IllegalArgumentException("the subscriber requests " + elements + " elements; a request is for one or more");
                }
                return call.call();
            });
        }

        @Override
        @SuppressWarnings("unchecked")
        protected void succeeded(Object value) {
            if (value != null) {
                subscriber.onNext((V) value);
            }
            subscriber.onComplete();
        }

        @Override
        protected void failed(Throwable error) {
            subscriber.onError(error);
        }
    }
}

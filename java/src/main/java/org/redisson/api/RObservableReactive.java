package org.redisson.api;

import reactor.core.publisher.Mono;

/** Objects whose events can be listened to, for Reactor: the methods of {@link RObservableAsync}, each carried out once per subscription. */
public interface RObservableReactive {
    /** As {@link RObservableAsync#addListenerAsync(ObjectListener)}. */
    Mono<Integer> addListener(ObjectListener listener);

    /** As {@link RObservableAsync#removeListenerAsync(int)}. */
    Mono<Void> removeListener(int listenerId);
}

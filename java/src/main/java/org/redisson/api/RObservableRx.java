package org.redisson.api;

import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Single;

/** Objects whose events can be listened to, for RxJava: the methods of {@link RObservableAsync}, each carried out once per subscription. */
public interface RObservableRx {
    /** As {@link RObservableAsync#addListenerAsync(ObjectListener)}. */
    Single<Integer> addListener(ObjectListener listener);

    /** As {@link RObservableAsync#removeListenerAsync(int)}. */
    Completable removeListener(int listenerId);
}

package org.redisson;

import io.redlatch.internal.Answer;
import io.redlatch.internal.Core;
import io.redlatch.internal.Request;
import org.redisson.api.DeletedObjectListener;
import org.redisson.api.ExpiredObjectListener;
import org.redisson.api.ObjectListener;
import org.redisson.api.RFuture;

/** The listeners of one key. */
final class KeyEvents {
    private final Place place;
    private final Core core;
    private final String kind;
    private final byte[] key;

    KeyEvents(Place place, String kind) {
        this.place = place;
        this.core = place.core;
        this.kind = kind;
        this.key = place.key;
    }

    int add(ObjectListener listener) {
        Request subscribe = subscription(listener);
        return core.run(subscribe, answer -> place.listeners.add(subscribe, checked(answer).number(), call(listener)));
    }

    RFuture<Integer> addAsync(ObjectListener listener) {
        Request subscribe = subscription(listener);
        return RedissonFuture.submit(core, subscribe,
                answer -> place.listeners.add(subscribe, checked(answer).number(), call(listener)), place.listeners::remove);
    }

    void remove(int listenerId) {
        place.listeners.remove(listenerId);
    }

    private Answer checked(Answer answer) {
        if (answer.failed()) {
            throw Failures.of(answer, place.rawName, core.id(), RedissonBaseLock.currentThread());
        }
        return answer;
    }

    private Request subscription(ObjectListener listener) {
        if (listener instanceof ExpiredObjectListener) {
            return place.limits.on(Request.expiry(kind, key));
        }
        if (listener instanceof DeletedObjectListener) {
            return place.limits.on(Request.deletion(kind, key));
        }
        throw new IllegalArgumentException(
                "`" + place.name + "` takes an ExpiredObjectListener or a DeletedObjectListener, and not " + listener);
    }

    private Runnable call(ObjectListener listener) {
        return listener instanceof ExpiredObjectListener
                ? () -> ((ExpiredObjectListener) listener).onExpired(place.rawName)
                : () -> ((DeletedObjectListener) listener).onDeleted(place.rawName);
    }
}

package io.redlatch.internal;

import io.redlatch.LockLostException;
import io.redlatch.LostReason;
import java.util.List;

/**
 * The classes that the end of a client is told with, loaded with the first client. An application server may close the application's jar while the
 * news of a loss is on its way: then no class can be loaded from it any more.
 */
final class LateClasses {
    /** A name loads its class. */
    static final List<Class<?>> ALL = List.of(Answer.class, Callbacks.Task.class, Callbacks.Worker.class, LockLostException.class, Log.class,
            LostReason.class, OwnThreads.class, UserCode.class);

    private LateClasses() {}
}

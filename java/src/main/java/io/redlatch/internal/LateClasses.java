package io.redlatch.internal;

import io.redlatch.LockLostException;
import io.redlatch.LostReason;
import java.util.List;

/**
 * The classes that are needed when none can be loaded any more, loaded with the first client. An application server may close the application's
 * jar while the news of a loss is on its way. And an error that is thrown for want of memory is caught only by what need not be looked up for it.
 */
final class LateClasses {
    /** A name loads its class. */
    static final List<Class<?>> ALL = List.of(Answer.class, Callbacks.Task.class, Callbacks.Worker.class, LockLostException.class, Log.class,
            LostReason.class, OwnThreads.class, UserCode.class, Throwable.class, Error.class, RuntimeException.class, OutOfMemoryError.class,
            InterruptedException.class);

    private LateClasses() {}
}

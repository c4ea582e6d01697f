package org.redisson.api;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

/**
 * A result that is still to come.
 *
 * <p>Cancelling it gives the request up; a lock that is acquired all the same is given back. Continuations run on threads of this
 * library that may be blocked, or on the thread that attaches them.
 *
 * @param <V> the result
 */
public interface RFuture<V> extends Future<V>, CompletionStage<V> {}

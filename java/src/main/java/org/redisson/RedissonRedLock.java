package org.redisson;

import org.redisson.api.RLock;

/**
 * One lock of a majority of several, each on a server of its own, of which a minority may fail: those that are missing are asked again at
 * every renewal. The lock of a client that was shut down counts as one that is missing.
 *
 * <p>One client has the holds: the open one whose server, as {@code host:port}, is the first in the order of texts when the lock is acquired. Its
 * shutdown ends them even if a majority is left: the holder is told of a loss with {@link io.redlatch.LostReason#CLOSED}, and {@code unlock} of the
 * object that acquired the lock names that loss. Waiters go on waiting, in the same time.
 *
 * @deprecated as in Redisson: a majority makes no lease safe against a holder that stands still; see {@link RedissonFencedLock}
 */
@Deprecated
public class RedissonRedLock extends RedissonMultiLock {
    /**
     * @param locks locks of this library's clients, each of another server
     * @throws IllegalArgumentException if there is none, one of them twice, or one that is not of this library
     * @throws RedissonShutdownException if the clients of all were shut down
     */
    public RedissonRedLock(RLock... locks) {
        super(true, locks);
    }
}

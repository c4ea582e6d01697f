package io.redlatch;

import io.redlatch.internal.OwnKinds;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * The lock that most libraries write, Spring's among them: {@code SET key token NX PX lease}, and a script that compares and deletes. So an
 * application can move over lock by lock; Redisson has no such lock.
 */
public final class TokenLock {
    private TokenLock() {}

    /**
     * The token lock of that name. A thread must not acquire it twice: that is an {@link IllegalMonitorStateException}. A release by
     * another library is noticed within 250 ms. Asks nothing of the server.
     *
     * @throws IllegalArgumentException if {@code client} was not made by this library
     * @throws ClassPathConflictException if that is because Redisson itself is on the class path as well
     */
    public static RLock of(RedissonClient client, String name) {
        return OwnKinds.of(client, TokenLock.class).ownLock("token", name);
    }
}

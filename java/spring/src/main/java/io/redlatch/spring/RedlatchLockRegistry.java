package io.redlatch.spring;

import java.util.UUID;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * Locks for Spring Integration (6.5 and 7.0): of its aggregators, file filters, metadata and leader initiators. The lock of a key is
 * {@code client.getLock(prefix + key)}, held by a thread and renewed until it is released; nothing is kept for a key, so keys need not be few.
 */
@SuppressWarnings("rawtypes") // 6.5 has no type parameter, 7.0 has one
public final class RedlatchLockRegistry implements LockRegistry {
    private final RedissonClient client;
    private final String prefix;

    /** @param prefix what stands before a key in the name of its lock */
    public RedlatchLockRegistry(RedissonClient client, String prefix) {
        this.client = client;
        this.prefix = prefix;
    }

    /**
     * The lock of a key. Asks nothing of the server.
     *
     * @param key a text, a number or a UUID
     * @throws IllegalArgumentException for a key of another class, whose text might be another one in each process
     */
    @Override
    public RLock obtain(Object key) {
        if (!(key instanceof CharSequence || key instanceof Number || key instanceof UUID)) {
            throw new IllegalArgumentException("the key of a lock is " + (key == null ? "null" : "a " + key.getClass().getName())
                    + "; give a text, a number or a UUID, which are the same in each process");
        }
        return client.getLock(prefix + key);
    }
}

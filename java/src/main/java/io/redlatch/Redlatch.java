package io.redlatch;

import io.redlatch.internal.ClassPath;
import org.redisson.Connecting;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisConnectionException;

/** Makes clients of a URL: of Redis, and of the other systems whose locks this library takes. */
public final class Redlatch {
    private Redlatch() {}

    /**
     * Connects to the server of a URL, and returns once it has answered. The same URL means the same in Python and Rust:
     *
     * <ul>
     * <li>{@code redis://user:password@host:6379/2}, {@code rediss://…} with TLS, {@code redis+cluster://a,b}, {@code redis+sentinel://a,b/master},
     * {@code redis+replicated://a,b}, {@code unix:///path};
     * <li>{@code mariadb://user:password@host:3306/schema} or {@code mysql://…}; {@code mariadbs://…} and {@code mysqls://…} with TLS;
     * <li>{@code zookeeper://host1,host2,host3/chroot}, with a login of the scheme {@code digest} {@code zookeeper://user:password@…};
     * {@code zookeepers://…} with TLS.
     * </ul>
     *
     * <p>Options stand behind a {@code ?}: {@code watchdog=10&response_timeout=1}. Times are in seconds. An option that is left out is as in Python
     * and Rust. Few of these differ from {@link org.redisson.config.Config}: calls are tried again for 3 s, and locks wait for no replica. The values
     * of a faster multi lock are named as {@link org.redisson.codec.Kryo5Codec} names them.
     *
     * <p>The factories of the client that its server has no locks for throw {@link UnsupportedOperationException}, with the kinds that it has:
     * MySQL and MariaDB have {@code getLock}, {@code getNonReentrantLock} and {@code getFencedLock}; ZooKeeper also has {@code getFairLock},
     * {@code getNonReentrantFairLock} and {@code getReadWriteLock}, and the number of the permits of {@code getPermitExpirableSemaphore}.
     * {@code getMultiLock(locks)} and {@code getRedLock} take locks of any clients. {@code getConfig} throws it for every URL. A lock of these systems
     * ends with its session: {@code shutdown} frees all locks of its client, whether {@link Options#releaseOnShutdown(RedissonClient)} was called or
     * not.
     *
     * @throws RedisConnectionException if the server cannot be reached, does not answer, refuses the login, or cannot keep locks (a replica, a node of
     *         Galera); its cause says which
     * @throws IllegalArgumentException for a URL or an option that cannot be used; the text shows no password
     * @throws NativeLibraryError if there is no native library for this platform
     * @throws ClassPathConflictException if Redisson itself is on the class path as well
     */
    public static RedissonClient connect(String url) {
        ClassPath.check(Redlatch.class);
        return Connecting.connect(url);
    }
}

package org.redisson;

/** The lock of {@link io.redlatch.TokenLock}. */
final class RedissonTokenLock extends RedissonLock {
    RedissonTokenLock(Place place) {
        super(place, "token");
    }
}

package io.redlatch.internal;

import org.redisson.api.RLock;

/** A client that has the locks of {@link io.redlatch.TokenLock}. */
public interface TokenLockSource {
    RLock tokenLock(String name);
}

package org.redisson.client;

/** Does nothing. */
public class DefaultNettyHook implements NettyHook {
    /** There is nothing to set. */
    public DefaultNettyHook() {}
}

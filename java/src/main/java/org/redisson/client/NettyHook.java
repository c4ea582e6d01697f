package org.redisson.client;

/** Would be told of Netty's channels; there is no Netty here, and nothing to implement. */
public interface NettyHook {}

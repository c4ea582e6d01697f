package org.redisson.client;

/** Hears of Netty's channels in Redisson; this library has no Netty, and no method to implement. */
public interface NettyHook {}

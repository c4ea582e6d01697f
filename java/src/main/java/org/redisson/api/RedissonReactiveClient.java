package org.redisson.api;

/** The client with the types of Reactor; not to be had yet, see {@link RedissonClient}. */
public interface RedissonReactiveClient {}

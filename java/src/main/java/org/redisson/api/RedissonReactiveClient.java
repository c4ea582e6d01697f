package org.redisson.api;

/** What a client would be with the types of Reactor; not to be had yet, see {@link RedissonClient}. */
public interface RedissonReactiveClient {}

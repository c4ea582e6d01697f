package org.redisson.api;

/** The client with the types of RxJava; not to be had yet, see {@link RedissonClient}. */
public interface RedissonRxClient {}

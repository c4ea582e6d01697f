package org.redisson.connection;

/** Netty's way to look names up; this library has no Netty, and no method to implement. */
public interface AddressResolverGroupFactory {}

package org.redisson.connection;

/** How Netty would look names up; there is no Netty here, and nothing to implement. */
public interface AddressResolverGroupFactory {}

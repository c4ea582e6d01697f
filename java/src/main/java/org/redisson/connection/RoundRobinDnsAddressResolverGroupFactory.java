package org.redisson.connection;

/** Names the way to look names up: each address of a name in turn. Without meaning here. */
public class RoundRobinDnsAddressResolverGroupFactory implements AddressResolverGroupFactory {
    /** There is nothing to set. */
    public RoundRobinDnsAddressResolverGroupFactory() {}
}

package org.redisson.connection;

/** Names the way to look names up: as it does by itself. Without meaning here. */
public class DnsAddressResolverGroupFactory implements AddressResolverGroupFactory {
    /** There is nothing to set. */
    public DnsAddressResolverGroupFactory() {}
}

package org.redisson.connection;

/** Names the way to look names up: one name after the other. Without meaning here. */
public class SequentialDnsAddressResolverFactory implements AddressResolverGroupFactory {
    /** There is nothing to set. */
    public SequentialDnsAddressResolverFactory() {}

    /** @param concurrencyLevel without meaning here */
    public SequentialDnsAddressResolverFactory(int concurrencyLevel) {}
}

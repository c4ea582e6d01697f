package org.redisson.config;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;

/** A master and replicas that never change. */
public class MasterSlaveServersConfig extends BaseMasterSlaveServersConfig<MasterSlaveServersConfig> {
    /** The defaults, without a server. */
    public MasterSlaveServersConfig() {}

    MasterSlaveServersConfig(MasterSlaveServersConfig other) {
        super(other);
    }

    @Override
    MasterSlaveServersConfig self() {
        return this;
    }

    @Override
    MasterSlaveServersConfig copy() {
        return new MasterSlaveServersConfig(this);
    }

    @Override
    String mode() {
        return "master/slave servers";
    }

    /** Where the master is; see {@link SingleServerConfig#setAddress}. */
    public MasterSlaveServersConfig setMasterAddress(String masterAddress) {
        kept.put("masterAddress", masterAddress);
        return this;
    }

    /** The value that was set. */
    public String getMasterAddress() {
        return kept.get("masterAddress", null);
    }

    /** Adds where replicas are, without meaning here: locks are the master's alone. */
    public MasterSlaveServersConfig addSlaveAddress(String... addresses) {
        Set<String> all = new LinkedHashSet<>(getSlaveAddresses());
        Collections.addAll(all, addresses);
        setSlaveAddresses(all);
        return this;
    }

    /** The addresses. */
    public Set<String> getSlaveAddresses() {
        return kept.get("slaveAddresses", Set.of());
    }

    /** The addresses of replicas in place of those before, without meaning here: locks are the master's alone. */
    public void setSlaveAddresses(Set<String> slaveAddresses) {
        kept.idle("slaveAddresses", slaveAddresses);
    }

    /** Adds where one replica is, without meaning here: locks are the master's alone. */
    public MasterSlaveServersConfig addSlaveAddress(String address) {
        return addSlaveAddress(new String[] {address});
    }

    /** The number of the database; 0 by default. */
    public MasterSlaveServersConfig setDatabase(int database) {
        kept.put("database", database);
        return this;
    }

    /** The value that was set. */
    public int getDatabase() {
        return kept.get("database", 0);
    }
}

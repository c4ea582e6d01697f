package org.redisson.config;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** A master with replicas, as sentinels have it. */
public class SentinelServersConfig extends BaseMasterSlaveServersConfig<SentinelServersConfig> {
    /** The defaults, without a server. */
    public SentinelServersConfig() {}

    SentinelServersConfig(SentinelServersConfig other) {
        super(other);
    }

    @Override
    SentinelServersConfig self() {
        return this;
    }

    @Override
    SentinelServersConfig copy() {
        return new SentinelServersConfig(this);
    }

    @Override
    String mode() {
        return "sentinel servers";
    }

    /** The sentinels' name of the master. */
    public SentinelServersConfig setMasterName(String masterName) {
        kept.put("masterName", masterName);
        return this;
    }

    /** The value that was set. */
    public String getMasterName() {
        return kept.get("masterName", null);
    }

    /** Adds where sentinels are; see {@link SingleServerConfig#setAddress}. */
    public SentinelServersConfig addSentinelAddress(String... addresses) {
        List<String> all = new ArrayList<>(getSentinelAddresses());
        Collections.addAll(all, addresses);
        setSentinelAddresses(all);
        return this;
    }

    /** The addresses. */
    public List<String> getSentinelAddresses() {
        return kept.get("sentinelAddresses", List.of());
    }

    /** The addresses, in place of those before. */
    public void setSentinelAddresses(List<String> sentinelAddresses) {
        kept.put("sentinelAddresses", sentinelAddresses);
    }

    /** The user to log in to the sentinels as; none by default. */
    public SentinelServersConfig setSentinelUsername(String sentinelUsername) {
        kept.put("sentinelUsername", sentinelUsername);
        return this;
    }

    /** The value that was set. */
    public String getSentinelUsername() {
        return kept.get("sentinelUsername", null);
    }

    /** The password to log in to the sentinels with; none by default. */
    public SentinelServersConfig setSentinelPassword(String sentinelPassword) {
        kept.put("sentinelPassword", sentinelPassword);
        return this;
    }

    /** The value that was set. */
    public String getSentinelPassword() {
        return kept.get("sentinelPassword", null);
    }

    /** The number of the database; 0 by default. */
    public SentinelServersConfig setDatabase(int database) {
        kept.put("database", database);
        return this;
    }

    /** The value that was set. */
    public int getDatabase() {
        return kept.get("database", 0);
    }

    /** Without meaning here: the sentinels tell of another master by themselves; default 1000. */
    public SentinelServersConfig setScanInterval(int scanInterval) {
        kept.idle("scanInterval", scanInterval);
        return this;
    }

    /** The value that was set. */
    public int getScanInterval() {
        return kept.get("scanInterval", 1000);
    }

    /** Without meaning here: one sentinel is enough to begin with; default true. */
    public SentinelServersConfig setCheckSentinelsList(boolean checkSentinelsList) {
        kept.idle("checkSentinelsList", checkSentinelsList);
        return this;
    }

    /** The value that was set. */
    public boolean isCheckSentinelsList() {
        return kept.get("checkSentinelsList", true);
    }

    /** Without meaning here: no replica is connected to; default true. */
    public SentinelServersConfig setCheckSlaveStatusWithSyncing(boolean checkSlaveStatusWithSyncing) {
        kept.idle("checkSlaveStatusWithSyncing", checkSlaveStatusWithSyncing);
        return this;
    }

    /** The value that was set. */
    public boolean isCheckSlaveStatusWithSyncing() {
        return kept.get("checkSlaveStatusWithSyncing", true);
    }

    /** Without meaning here: the sentinels are those that are named, so name all of them; default true. */
    public SentinelServersConfig setSentinelsDiscovery(boolean sentinelsDiscovery) {
        kept.idle("sentinelsDiscovery", sentinelsDiscovery);
        return this;
    }

    /** The value that was set. */
    public boolean isSentinelsDiscovery() {
        return kept.get("sentinelsDiscovery", true);
    }

    /** Replaces the addresses that servers announce; by default they stay as they are. */
    public SentinelServersConfig setNatMapper(NatMapper natMapper) {
        kept.put("natMapper", natMapper);
        return this;
    }

    /** The value that was set. */
    public NatMapper getNatMapper() {
        return kept.get("natMapper", NatMapper.direct());
    }

    /** @deprecated use {@link #setNatMapper} with {@link HostPortNatMapper} */
    @Deprecated
    public SentinelServersConfig setNatMap(Map<String, String> natMap) {
        HostPortNatMapper mapper = new HostPortNatMapper();
        mapper.setHostsPortMap(natMap);
        return setNatMapper(mapper);
    }
}

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

    /** What the sentinels call the master. */
    public SentinelServersConfig setMasterName(String masterName) {
        kept.put("masterName", masterName);
        return this;
    }

    /** What was set. */
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

    /** What was set. */
    public String getSentinelUsername() {
        return kept.get("sentinelUsername", null);
    }

    /** The password to log in to the sentinels with; none by default. */
    public SentinelServersConfig setSentinelPassword(String sentinelPassword) {
        kept.put("sentinelPassword", sentinelPassword);
        return this;
    }

    /** What was set. */
    public String getSentinelPassword() {
        return kept.get("sentinelPassword", null);
    }

    /** The number of the database; 0 by default. */
    public SentinelServersConfig setDatabase(int database) {
        kept.put("database", database);
        return this;
    }

    /** What was set. */
    public int getDatabase() {
        return kept.get("database", 0);
    }

    /** How often the sentinels are asked, in ms; 1000 by default. */
    public SentinelServersConfig setScanInterval(int scanInterval) {
        kept.put("scanInterval", scanInterval);
        return this;
    }

    /** What was set. */
    public int getScanInterval() {
        return kept.get("scanInterval", 1000);
    }

    /** Whether there must be more than one sentinel at the start; true by default. */
    public SentinelServersConfig setCheckSentinelsList(boolean checkSentinelsList) {
        kept.put("checkSentinelsList", checkSentinelsList);
        return this;
    }

    /** What was set. */
    public boolean isCheckSentinelsList() {
        return kept.get("checkSentinelsList", true);
    }

    /** Whether replicas that are still being filled are passed over; true by default. */
    public SentinelServersConfig setCheckSlaveStatusWithSyncing(boolean checkSlaveStatusWithSyncing) {
        kept.put("checkSlaveStatusWithSyncing", checkSlaveStatusWithSyncing);
        return this;
    }

    /** What was set. */
    public boolean isCheckSlaveStatusWithSyncing() {
        return kept.get("checkSlaveStatusWithSyncing", true);
    }

    /** Whether further sentinels are found by those that are known; true by default. */
    public SentinelServersConfig setSentinelsDiscovery(boolean sentinelsDiscovery) {
        kept.put("sentinelsDiscovery", sentinelsDiscovery);
        return this;
    }

    /** What was set. */
    public boolean isSentinelsDiscovery() {
        return kept.get("sentinelsDiscovery", true);
    }

    /** Where a server is that says it is elsewhere; as it says by default. */
    public SentinelServersConfig setNatMapper(NatMapper natMapper) {
        kept.put("natMapper", natMapper);
        return this;
    }

    /** What was set. */
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

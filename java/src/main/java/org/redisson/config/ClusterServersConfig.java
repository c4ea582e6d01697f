package org.redisson.config;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** A cluster: names are spread over its masters. */
public class ClusterServersConfig extends BaseMasterSlaveServersConfig<ClusterServersConfig> {
    /** The defaults, without a server. */
    public ClusterServersConfig() {}

    ClusterServersConfig(ClusterServersConfig other) {
        super(other);
    }

    @Override
    ClusterServersConfig self() {
        return this;
    }

    @Override
    ClusterServersConfig copy() {
        return new ClusterServersConfig(this);
    }

    @Override
    String mode() {
        return "cluster servers";
    }

    /** Adds where servers are; see {@link SingleServerConfig#setAddress}. */
    public ClusterServersConfig addNodeAddress(String... addresses) {
        List<String> all = new ArrayList<>(getNodeAddresses());
        Collections.addAll(all, addresses);
        setNodeAddresses(all);
        return this;
    }

    /** The addresses. */
    public List<String> getNodeAddresses() {
        return kept.get("nodeAddresses", List.of());
    }

    /** The addresses, in place of those before. */
    public void setNodeAddresses(List<String> nodeAddresses) {
        kept.put("nodeAddresses", nodeAddresses);
    }

    /** How often the shape of the cluster is asked for, in ms; 5000 by default. */
    public ClusterServersConfig setScanInterval(int scanInterval) {
        kept.put("scanInterval", scanInterval);
        return this;
    }

    /** What was set. */
    public int getScanInterval() {
        return kept.get("scanInterval", 5000);
    }

    /** Whether every slot must have a master at the start; true by default. */
    public ClusterServersConfig setCheckSlotsCoverage(boolean checkSlotsCoverage) {
        kept.put("checkSlotsCoverage", checkSlotsCoverage);
        return this;
    }

    /** What was set. */
    public boolean isCheckSlotsCoverage() {
        return kept.get("checkSlotsCoverage", true);
    }

    /** Whether replicas without a link to their master are passed over; false by default. */
    public ClusterServersConfig setCheckMasterLinkStatus(boolean checkMasterLinkStatus) {
        kept.put("checkMasterLinkStatus", checkMasterLinkStatus);
        return this;
    }

    /** What was set. */
    public boolean isCheckMasterLinkStatus() {
        return kept.get("checkMasterLinkStatus", false);
    }

    /** Whether messages stay on the node of their slot; by default where the servers can do it. */
    public ClusterServersConfig setShardedSubscriptionMode(ShardedSubscriptionMode shardedSubscriptionMode) {
        kept.put("shardedSubscriptionMode", shardedSubscriptionMode);
        return this;
    }

    /** What was set. */
    public ShardedSubscriptionMode getShardedSubscriptionMode() {
        return kept.get("shardedSubscriptionMode", ShardedSubscriptionMode.AUTO);
    }

    /** The number of the database; 0 by default. */
    public ClusterServersConfig setDatabase(int database) {
        kept.put("database", database);
        return this;
    }

    /** What was set. */
    public int getDatabase() {
        return kept.get("database", 0);
    }

    /** Where a server is that says it is elsewhere; as it says by default. */
    public ClusterServersConfig setNatMapper(NatMapper natMapper) {
        kept.put("natMapper", natMapper);
        return this;
    }

    /** What was set. */
    public NatMapper getNatMapper() {
        return kept.get("natMapper", NatMapper.direct());
    }

    /** @deprecated use {@link #setNatMapper} with {@link HostPortNatMapper} */
    @Deprecated
    public ClusterServersConfig setNatMap(Map<String, String> natMap) {
        HostPortNatMapper mapper = new HostPortNatMapper();
        mapper.setHostsPortMap(natMap);
        return setNatMapper(mapper);
    }
}
